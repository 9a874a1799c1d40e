-- What became of the commands that met no row which they could lock: fenced when there is none, locked when there is
-- one, or when somebody is about to bring one. (A claim whose transaction waits for a standby is not to be seen yet; its
-- owner, who gave up waiting for the reply, must not be told that it is lost.) Whoever has the advisory lock and then
-- looks sees what there is.
CREATE FUNCTION stet.not_seen(of_scope bytea, of_key bytea) RETURNS integer
LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(stet.lock_number(stet.operation_id(of_scope, of_key))) THEN RETURN 10; END IF;
  PERFORM FROM stet.operations o WHERE o.scope = of_scope AND o.key = of_key;
  RETURN CASE WHEN FOUND THEN 10 ELSE 9 END;
END
$$;

-- Completions of a batch, each (scope, key) once. Part of stet.execute, and called by itself for a batch of nothing else.
--
-- Another transaction's lock is never waited for, except in a service's own transaction (`in_session`), which takes the
-- locks beforehand (stet.hold). A command is answered with `ok` by the row that was written for it: what was not carried
-- out has no answer.
CREATE FUNCTION stet.run_completes(
  d_scope bytea[], d_key bytea[], d_nonce uuid[], d_attempt integer[], d_status integer[], d_headers jsonb[],
  d_raw_headers bytea[], d_body bytea[], d_retention_ms bigint[], in_session boolean)
RETURNS SETOF stet.outcome
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  at timestamptz;
BEGIN
  IF in_session THEN PERFORM stet.hold(d_scope, d_key); END IF;
  at := stet.clock();
  RETURN QUERY
    WITH held AS MATERIALIZED (
      SELECT d.n, d.scope, d.key, o.retention_ms,
             CASE WHEN o.state IS NULL THEN 10  -- not seen
                  WHEN o.nonce IS DISTINCT FROM d_nonce[d.n] OR o.attempt IS DISTINCT FROM d_attempt[d.n] OR o.state = 3 THEN 9
                  WHEN o.state = 1 THEN 8  -- if with the same words
                  ELSE 0  -- to be written
             END AS verdict
        FROM (SELECT n, d_scope[n] AS scope, d_key[n] AS key FROM generate_series(1, cardinality(d_scope)) n OFFSET 0) d
        LEFT JOIN LATERAL (
               SELECT o.state, o.nonce, o.attempt, o.retention_ms
                 FROM stet.operations o WHERE o.scope = d.scope AND o.key = d.key FOR NO KEY UPDATE SKIP LOCKED) o ON true),
    written AS (
      UPDATE stet.operations o
         SET state = 1, status = d_status[h.n], headers = d_headers[h.n], raw_headers = d_raw_headers[h.n],
             body = d_body[h.n], expires_at = h.ends, sweep_at = least(o.sweep_at, h.ends)
        FROM (SELECT n, scope, key, stet.after(at, CASE WHEN d_retention_ms[n] IS NULL THEN retention_ms
                                                        WHEN d_retention_ms[n] >= 0 THEN d_retention_ms[n] END) AS ends
                FROM held WHERE verdict = 0 OFFSET 0) h
       WHERE o.scope = h.scope AND o.key = h.key
      RETURNING h.n, o.expires_at, o.fingerprint, o.recipe),
    -- A token that has completed, or has come too late, needs its lease no more. But the gateway renews while a
    -- service's transaction is open, and that may still roll back: it leaves the lease alone, unless nobody else can
    -- have seen it.
    freed AS (
      DELETE FROM stet.leases
       WHERE ctid = ANY (ARRAY(
         SELECT l.place
           FROM held h
          CROSS JOIN LATERAL (
                  SELECT l.ctid AS place FROM stet.leases l
                   WHERE l.scope = h.scope AND l.key = h.key AND l.nonce = d_nonce[h.n] AND l.attempt = d_attempt[h.n]
                     AND (NOT in_session OR l.xmin = pg_current_xact_id()::xid)
                     FOR UPDATE SKIP LOCKED) l
          WHERE h.verdict <> 10)))
    SELECT (stet.completed(2, w.n, w.fingerprint, w.recipe, at, w.expires_at)).* FROM written w
    UNION ALL
    SELECT said.*
      FROM held h
     CROSS JOIN LATERAL stet.not_written(h.n, h.verdict, h.scope, h.key, d_status[h.n], d_headers[h.n], d_raw_headers[h.n],
                                         d_body[h.n], at, in_session) said
     WHERE h.verdict <> 0;
END
$$;

-- What a completion comes to that changes nothing. A row that is completed already is held by this transaction.
CREATE FUNCTION stet.not_written(
  n integer, verdict integer, d_scope bytea, d_key bytea, d_status integer, d_headers jsonb, d_raw_headers bytea, d_body bytea,
  at timestamptz, in_session boolean)
RETURNS stet.outcome
LANGUAGE plpgsql AS $$
DECLARE
  o record;
BEGIN
  IF verdict = 10 THEN RETURN stet.verdict(2, n, stet.not_seen(d_scope, d_key)); END IF;
  IF verdict = 9 THEN RETURN stet.verdict(2, n, 9); END IF;
  SELECT xmin AS writer, status, headers, raw_headers, body, fingerprint, recipe, expires_at INTO STRICT o
    FROM stet.operations WHERE scope = d_scope AND key = d_key;
  -- The reply to the first completion was lost: the same words again are heard again. Not so in a service's transaction,
  -- whose rows would be a second effect, unless it is the same transaction.
  IF (in_session AND o.writer <> pg_current_xact_id()::xid)
     OR (o.status, o.headers, o.raw_headers, o.body) IS DISTINCT FROM (d_status, d_headers, d_raw_headers, d_body) THEN
    RETURN stet.verdict(2, n, 9);
  END IF;
  RETURN stet.completed(2, n, o.fingerprint, o.recipe, at, o.expires_at);
END
$$;

-- ---- One completion, of a service's transaction ----
--
-- The same as run_completes does for many, written out as run_claim is, and for its reason.
CREATE FUNCTION stet.run_complete(
  d_scope bytea, d_key bytea, d_nonce uuid, d_attempt integer, d_status integer, d_headers jsonb, d_raw_headers bytea,
  d_body bytea, d_retention_ms bigint)
RETURNS stet.outcome
LANGUAGE plpgsql AS $$
DECLARE
  number  bigint := stet.lock_number(stet.operation_id(d_scope, d_key));
  at      timestamptz;
  ends    timestamptz;
  held    record;
  verdict integer;
  written record;
BEGIN
  PERFORM stet.be_durable();
  PERFORM pg_advisory_xact_lock(number);
  SELECT o.state, o.nonce, o.attempt, o.retention_ms INTO held
    FROM stet.operations o WHERE o.scope = d_scope AND o.key = d_key FOR NO KEY UPDATE;
  verdict := CASE WHEN NOT FOUND THEN 10  -- not seen
                  WHEN held.nonce IS DISTINCT FROM d_nonce OR held.attempt IS DISTINCT FROM d_attempt OR held.state = 3 THEN 9
                  WHEN held.state = 1 THEN 8  -- if with the same words
                  ELSE 0  -- to be written
             END;
  at := stet.clock();
  -- Its lease goes with it where nobody else can have seen that. Else the gateway renews while this transaction is open,
  -- which may still roll back.
  IF verdict <> 10 THEN
    DELETE FROM stet.leases l
     WHERE l.scope = d_scope AND l.key = d_key AND l.nonce = d_nonce AND l.attempt = d_attempt
       AND l.xmin = pg_current_xact_id()::xid;
  END IF;
  IF verdict <> 0 THEN
    RETURN stet.not_written(1, verdict, d_scope, d_key, d_status, d_headers, d_raw_headers, d_body, at, true);
  END IF;
  ends := stet.after(at, CASE WHEN d_retention_ms IS NULL THEN held.retention_ms
                              WHEN d_retention_ms >= 0 THEN d_retention_ms END);
  UPDATE stet.operations o
     SET state = 1, status = d_status, headers = d_headers, raw_headers = d_raw_headers, body = d_body,
         expires_at = ends, sweep_at = least(o.sweep_at, ends)
   WHERE o.scope = d_scope AND o.key = d_key
  RETURNING o.fingerprint, o.recipe, o.expires_at INTO STRICT written;
  RETURN stet.completed(2, 1, written.fingerprint, written.recipe, at, written.expires_at);
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
    RETURN QUERY SELECT (stet.verdict(3, n, stet.not_seen(o_scope[n], o_key[n]))).*
      FROM unnest(o_n) n WHERE n <> ALL (renewed) AND n <> ALL (fenced);
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
