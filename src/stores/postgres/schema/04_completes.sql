-- What became of the commands that met no row which they could lock: fenced when there is none, locked when there is
-- one, or when somebody is about to bring one. (A claim whose transaction waits for a standby is not to be seen yet; its
-- owner, who gave up waiting for the reply, must not be told that it is lost.) Whoever has the advisory lock and then
-- looks sees what there is.
CREATE FUNCTION stet.not_seen(list integer, of_scope bytea[], of_key bytea[], which integer[]) RETURNS SETOF stet.outcome
LANGUAGE plpgsql AS $$
DECLARE
  free integer[];
BEGIN
  SELECT array_agg(n) INTO free
    FROM unnest(which) n WHERE pg_try_advisory_xact_lock(stet.lock_number(of_scope[n], of_key[n]));
  RETURN QUERY
    SELECT (stet.verdict(list, n, CASE WHEN o.there IS NULL AND n = ANY (free) THEN 9 ELSE 10 END)).*
      FROM unnest(which) n
      LEFT JOIN LATERAL (
             SELECT true AS there FROM stet.operations o WHERE o.scope = of_scope[n] AND o.key = of_key[n] OFFSET 0) o ON true;
END
$$;

-- Completions and renewals of a batch, each (scope, key) once. Parts of stet.execute, which pins the plans.
--
-- Another transaction's lock is never waited for, except in a service's own transaction (`in_session`), which
-- has taken the locks beforehand (stet.hold).
--
-- A row is locked by one statement and written by the next one, at the place where it was found: no second search, and
-- the next statement sees the version that was locked, however new.
CREATE FUNCTION stet.run_completes(
  d_scope bytea[], d_key bytea[], d_nonce uuid[], d_attempt integer[], d_status integer[], d_headers jsonb[],
  d_raw_headers bytea[], d_body bytea[], d_retention_ms bigint[], in_session boolean)
RETURNS SETOF stet.outcome
LANGUAGE plpgsql AS $$
DECLARE
  -- for each of them, in their order
  verdicts     integer[];  -- 0 to be written, 8 the same words again, 9 fenced, 10 not seen
  places       tid[];
  ends         timestamptz[];
  fingerprints bytea[];
  recipes      text[];
  written      integer;
  at           timestamptz := stet.clock();
BEGIN
  SELECT array_agg(h.verdict), array_agg(h.place), array_agg(h.expires_at), array_agg(h.fingerprint), array_agg(h.recipe)
    INTO verdicts, places, ends, fingerprints, recipes
    FROM (
      SELECT CASE WHEN o.state IS NULL THEN 10
                  WHEN o.nonce IS DISTINCT FROM d.nonce OR o.attempt IS DISTINCT FROM d.attempt OR o.state = 3 THEN 9
                  WHEN o.state <> 1 THEN 0
                  -- The reply to the first completion was lost: the same words again are heard again. Not so in a
                  -- service's transaction, whose rows would be a second effect, unless it is the same transaction.
                  WHEN in_session AND o.writer <> pg_current_xact_id()::xid THEN 9
                  WHEN o.status = d.status AND o.headers IS NOT DISTINCT FROM d.headers
                   AND o.raw_headers IS NOT DISTINCT FROM d.raw_headers AND o.body IS NOT DISTINCT FROM d.body THEN 8
                  ELSE 9
             END AS verdict,
             CASE WHEN o.state = 1 THEN o.expires_at
                  ELSE stet.after(at, CASE WHEN d.retention_ms IS NULL THEN o.retention_ms
                                           WHEN d.retention_ms >= 0 THEN d.retention_ms END)
             END AS expires_at,
             o.place, o.fingerprint, o.recipe
        FROM unnest(d_scope, d_key, d_nonce, d_attempt, d_status, d_headers, d_raw_headers, d_body, d_retention_ms)
             WITH ORDINALITY AS d (scope, key, nonce, attempt, status, headers, raw_headers, body, retention_ms, n)
        LEFT JOIN LATERAL (
               SELECT o.ctid AS place, o.xmin AS writer, o.state, o.nonce, o.attempt, o.retention_ms, o.expires_at, o.fingerprint,
                      o.recipe, o.status, o.headers, o.raw_headers, o.body
                 FROM stet.operations o WHERE o.scope = d.scope AND o.key = d.key
                  FOR NO KEY UPDATE SKIP LOCKED) o ON true
       ORDER BY d.n) h;

  UPDATE stet.operations o
     SET state = 1, status = d.status, headers = d.headers, raw_headers = d.raw_headers, body = d.body,
         expires_at = d.expires_at, sweep_at = least(o.sweep_at, d.expires_at)
    FROM unnest(d_scope, d_key, d_status, d_headers, d_raw_headers, d_body, verdicts, places, ends)
         AS d (scope, key, status, headers, raw_headers, body, verdict, place, expires_at)
   WHERE d.verdict = 0 AND o.ctid = d.place AND o.scope = d.scope AND o.key = d.key;
  GET DIAGNOSTICS written = ROW_COUNT;
  PERFORM stet.must_be_all(written, cardinality(array_positions(verdicts, 0)));

  -- A token that has completed, or has come too late, needs its lease no more. But the gateway renews while a
  -- service's transaction is open, and that may still roll back: it leaves the lease alone, unless nobody else can
  -- have seen it.
  DELETE FROM stet.leases
   WHERE ctid = ANY (ARRAY(
     SELECT l.place
       FROM unnest(d_scope, d_key, d_nonce, d_attempt, verdicts) AS d (scope, key, nonce, attempt, verdict)
      CROSS JOIN LATERAL (
              SELECT l.ctid AS place FROM stet.leases l
               WHERE l.scope = d.scope AND l.key = d.key AND l.nonce = d.nonce AND l.attempt = d.attempt
                 AND (NOT in_session OR l.xmin = pg_current_xact_id()::xid)
                 FOR UPDATE SKIP LOCKED) l
      WHERE d.verdict <> 10));

  RETURN QUERY
    SELECT (stet.completed(2, v.n::integer, v.fingerprint, v.recipe, at, v.expires_at)).*
      FROM unnest(verdicts, ends, fingerprints, recipes)
           WITH ORDINALITY AS v (verdict, expires_at, fingerprint, recipe, n)
     WHERE v.verdict IN (0, 8);
  RETURN QUERY SELECT (stet.verdict(2, n, 9)).* FROM unnest(array_positions(verdicts, 9)) n;
  IF 10 = ANY (verdicts) THEN
    RETURN QUERY SELECT * FROM stet.not_seen(2, d_scope, d_key, array_positions(verdicts, 10));
  END IF;
END
$$;

-- Only the lease is written and locked. Whether the operation is still pending is read beside it: should it
-- be completed meanwhile, then its lease means nothing.
CREATE FUNCTION stet.run_renewals(
  o_n integer[], o_scope bytea[], o_key bytea[], o_nonce uuid[], o_attempt integer[], o_lease_ms bigint[])
RETURNS SETOF stet.outcome
LANGUAGE plpgsql AS $$
DECLARE
  renewed integer[];
  places  tid[];
  fenced  integer[];
  written integer;
  at      timestamptz := stet.clock();
BEGIN
  SELECT coalesce(array_agg(r.n), '{}'), array_agg(l.place) INTO renewed, places
    FROM unnest(o_n) AS r (n)
   CROSS JOIN LATERAL (
           SELECT FROM stet.operations o
            WHERE o.scope = o_scope[r.n] AND o.key = o_key[r.n] AND o.nonce = o_nonce[r.n] AND o.attempt = o_attempt[r.n]
              AND o.state = 0 OFFSET 0) o
   CROSS JOIN LATERAL (
           SELECT l.ctid AS place FROM stet.leases l
            WHERE l.scope = o_scope[r.n] AND l.key = o_key[r.n] AND l.nonce = o_nonce[r.n] AND l.attempt = o_attempt[r.n]
              FOR NO KEY UPDATE SKIP LOCKED) l;

  UPDATE stet.leases l SET lease_until = stet.lease_end(at, o_lease_ms[r.n])
    FROM unnest(renewed, places) AS r (n, place)
   WHERE l.ctid = r.place;
  GET DIAGNOSTICS written = ROW_COUNT;
  PERFORM stet.must_be_all(written, cardinality(renewed));
  RETURN QUERY SELECT (stet.verdict(3, n, 8)).* FROM unnest(renewed) n;

  IF cardinality(renewed) < cardinality(o_n) THEN
    SELECT coalesce(array_agg(r.n), '{}') INTO fenced
      FROM unnest(o_n) AS r (n)
     CROSS JOIN LATERAL (
             SELECT FROM stet.operations o
              WHERE o.scope = o_scope[r.n] AND o.key = o_key[r.n]
                AND NOT coalesce(o.nonce = o_nonce[r.n] AND o.attempt = o_attempt[r.n] AND o.state = 0, false) OFFSET 0) o
     WHERE r.n <> ALL (renewed);
    RETURN QUERY SELECT (stet.verdict(3, n, 9)).* FROM unnest(fenced) n;
    RETURN QUERY SELECT * FROM stet.not_seen(3, o_scope, o_key,
      ARRAY(SELECT n FROM unnest(o_n) n WHERE n <> ALL (renewed) AND n <> ALL (fenced)));
  END IF;
END
$$;

-- Rows that were locked and then not found again would be commands that were answered and not carried out.
CREATE FUNCTION stet.must_be_all(written integer, wanted integer) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF written <> wanted THEN
    RAISE 'stet: % of % rows were written', written, wanted USING ERRCODE = '40001';
  END IF;
END
$$;
