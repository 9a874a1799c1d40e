-- What became of the commands that met no row which they could lock: fenced when there is none, locked when there is
-- one, or when somebody is about to bring one. (A claim whose transaction waits for a standby is not to be seen yet; its
-- owner, who gave up waiting for the reply, must not be told that it is lost.) Whoever has the advisory lock and then
-- looks sees what there is.
CREATE FUNCTION stet.not_seen(list integer, of_scope bytea[], of_key bytea[], seen integer[]) RETURNS SETOF stet.outcome
LANGUAGE plpgsql AS $$
DECLARE
  free integer[];
BEGIN
  SELECT coalesce(array_agg(c.n::integer), '{}') INTO free
    FROM unnest(of_scope, of_key) WITH ORDINALITY AS c (scope, key, n)
   WHERE c.n <> ALL (seen) AND pg_try_advisory_xact_lock(stet.lock_number(c.scope, c.key));
  RETURN QUERY
    SELECT (stet.verdict(list, c.n::integer, CASE WHEN o.scope IS NULL AND c.n = ANY (free) THEN 9 ELSE 10 END)).*
      FROM unnest(of_scope, of_key) WITH ORDINALITY AS c (scope, key, n)
      LEFT JOIN stet.operations o ON o.scope = c.scope AND o.key = c.key
     WHERE c.n <> ALL (seen);
END
$$;

-- Completions and renewals of a batch, each (scope, key) once. Parts of stet.execute, which pins the plans.
--
-- Another transaction's lock is never waited for, except in a service's own transaction (`in_session`), which
-- has taken the locks beforehand (stet.hold).
CREATE FUNCTION stet.run_completes(
  d_scope bytea[], d_key bytea[], d_nonce uuid[], d_attempt integer[], d_status integer[], d_headers jsonb[],
  d_raw_headers bytea[], d_body bytea[], d_retention_ms bigint[], in_session boolean)
RETURNS SETOF stet.outcome
LANGUAGE plpgsql AS $$
DECLARE
  seen         integer[];
  verdicts     integer[];
  ends         timestamptz[];
  fingerprints bytea[];
  recipes      text[];
  at           timestamptz;
BEGIN
  at := stet.clock();
  WITH held AS MATERIALIZED (
    SELECT o.scope, o.key, o.fingerprint, o.recipe, d.n::integer AS n, d.status, d.headers, d.raw_headers, d.body,
           CASE WHEN o.nonce <> d.nonce OR o.attempt <> d.attempt OR o.state = 3 THEN 9
                WHEN o.state <> 1 THEN 0
                -- the reply to the first completion was lost: the same words again are heard again
                WHEN o.status = d.status AND o.headers IS NOT DISTINCT FROM d.headers
                 AND o.raw_headers IS NOT DISTINCT FROM d.raw_headers AND o.body IS NOT DISTINCT FROM d.body THEN 8
                ELSE 9
           END AS verdict,
           CASE WHEN o.state = 1 THEN o.expires_at
                ELSE stet.after(at, CASE WHEN d.retention_ms IS NULL THEN o.retention_ms
                                         WHEN d.retention_ms >= 0 THEN d.retention_ms END)
           END AS expires_at
      FROM unnest(d_scope, d_key, d_nonce, d_attempt, d_status, d_headers, d_raw_headers, d_body, d_retention_ms)
           WITH ORDINALITY AS d (scope, key, nonce, attempt, status, headers, raw_headers, body, retention_ms, n)
      JOIN stet.operations o ON o.scope = d.scope AND o.key = d.key
     ORDER BY o.scope, o.key
       FOR NO KEY UPDATE OF o SKIP LOCKED),
  written AS (
    UPDATE stet.operations o
       SET state = 1, status = held.status, headers = held.headers, raw_headers = held.raw_headers, body = held.body,
           expires_at = held.expires_at, sweep_at = least(o.sweep_at, held.expires_at)
      FROM held
     WHERE held.verdict = 0 AND o.scope = held.scope AND o.key = held.key)
  SELECT coalesce(array_agg(n), '{}'), array_agg(verdict), array_agg(expires_at), array_agg(fingerprint),
         array_agg(recipe)
    INTO seen, verdicts, ends, fingerprints, recipes
    FROM held;

  -- A token that has completed, or has come too late, needs its lease no more. But the gateway renews while a
  -- service's transaction is open, and that may still roll back: it leaves the lease alone, unless nobody else can
  -- have seen it.
  DELETE FROM stet.leases
   WHERE ctid = ANY (ARRAY(
     SELECT l.ctid
       FROM unnest(d_scope, d_key, d_nonce, d_attempt) WITH ORDINALITY AS d (scope, key, nonce, attempt, n)
       JOIN stet.leases l ON l.scope = d.scope AND l.key = d.key AND l.nonce = d.nonce AND l.attempt = d.attempt
      WHERE d.n = ANY (seen) AND (NOT in_session OR l.xmin = pg_current_xact_id()::xid)
      ORDER BY l.scope, l.key
        FOR UPDATE OF l SKIP LOCKED));

  RETURN QUERY
    SELECT (stet.completed(2, v.n, v.fingerprint, v.recipe, at, v.expires_at)).*
      FROM unnest(seen, verdicts, ends, fingerprints, recipes) AS v (n, verdict, expires_at, fingerprint, recipe)
     WHERE v.verdict <> 9;
  RETURN QUERY
    SELECT (stet.verdict(2, v.n, 9)).* FROM unnest(seen, verdicts) AS v (n, verdict) WHERE v.verdict = 9;
  IF cardinality(seen) < cardinality(d_scope) THEN
    RETURN QUERY SELECT * FROM stet.not_seen(2, d_scope, d_key, seen);
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
  others  integer[];
  at      timestamptz;
BEGIN
  at := stet.clock();
  WITH mine AS MATERIALIZED (
    SELECT l.scope, l.key, r.n, r.lease_ms
      FROM unnest(o_n) AS asked (n)
     CROSS JOIN LATERAL (SELECT asked.n, o_scope[asked.n] AS scope, o_key[asked.n] AS key, o_nonce[asked.n] AS nonce,
                                o_attempt[asked.n] AS attempt, o_lease_ms[asked.n] AS lease_ms) r
      JOIN stet.leases l ON l.scope = r.scope AND l.key = r.key AND l.nonce = r.nonce AND l.attempt = r.attempt
      JOIN stet.operations o ON o.scope = r.scope AND o.key = r.key AND o.nonce = r.nonce AND o.attempt = r.attempt
                            AND o.state = 0
     ORDER BY l.scope, l.key
       FOR NO KEY UPDATE OF l SKIP LOCKED),
  written AS (
    UPDATE stet.leases l SET lease_until = stet.lease_end(at, mine.lease_ms)
      FROM mine WHERE l.scope = mine.scope AND l.key = mine.key)
  SELECT coalesce(array_agg(n), '{}') INTO renewed FROM mine;
  RETURN QUERY SELECT (stet.verdict(3, n, 8)).* FROM unnest(renewed) n;

  IF cardinality(renewed) < cardinality(o_n) THEN
    SELECT coalesce(array_agg(asked.n), '{}') INTO others
      FROM unnest(o_n) AS asked (n)
      JOIN stet.operations o ON o.scope = o_scope[asked.n] AND o.key = o_key[asked.n]
     WHERE asked.n <> ALL (renewed)
       AND NOT (o.nonce = o_nonce[asked.n] AND o.attempt = o_attempt[asked.n] AND o.state = 0);
    RETURN QUERY SELECT (stet.verdict(3, n, 9)).* FROM unnest(others) n;
    SELECT array_agg(n) INTO others FROM generate_series(1, cardinality(o_scope)) n
     WHERE n <> ALL (o_n) OR n = ANY (renewed) OR n = ANY (others);
    RETURN QUERY SELECT * FROM stet.not_seen(3, o_scope, o_key, coalesce(others, '{}'));
  END IF;
END
$$;
