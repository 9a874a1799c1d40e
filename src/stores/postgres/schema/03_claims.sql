-- Claims of a batch, each (scope, key) once. Part of stet.execute, which pins the plans.
--
-- Whoever inserts a row holds its advisory lock to the end of the transaction. Who has the lock and then looks, in
-- a statement of its own, sees all that was committed; so the INSERT meets nobody's row and waits for nobody. That
-- a key is given once is up to the unique index alone: should the lock fail of its purpose, the INSERT fails.
CREATE FUNCTION stet.run_claims(
  c_scope bytea[], c_key bytea[], c_nonce uuid[], c_fingerprint bytea[], c_recipe text[], c_method text[],
  c_path bytea[], c_scope_rule text[], c_on_unknown smallint[], c_retention_ms bigint[], c_tombstone_ms bigint[],
  c_lease_ms bigint[], wait boolean, in_session boolean)
RETURNS SETOF stet.outcome
LANGUAGE plpgsql AS $$
DECLARE
  total  integer := cardinality(c_scope);
  free   integer[];  -- whose lock is ours
  absent integer[];  -- of these, nobody's yet
  again  integer[];  -- ours already: the first reply was lost
  at     timestamptz;
BEGIN
  IF in_session THEN
    free := stet.locks_for_session(c_scope, c_key, wait);
  ELSE
    SELECT array_agg(c.n::integer) INTO free
      FROM unnest(c_scope, c_key) WITH ORDINALITY AS c (scope, key, n)
     WHERE pg_try_advisory_xact_lock(stet.lock_number(c.scope, c.key));
  END IF;

  SELECT coalesce(array_agg(c.n::integer) FILTER (WHERE o.state IS NULL AND c.n = ANY (free)), '{}'),
         array_agg(c.n::integer) FILTER (WHERE o.state = 0 AND o.nonce = c.nonce)
    INTO absent, again
    FROM unnest(c_scope, c_key, c_nonce) WITH ORDINALITY AS c (scope, key, nonce, n)
    LEFT JOIN LATERAL (
           SELECT o.state, o.nonce FROM stet.operations o WHERE o.scope = c.scope AND o.key = c.key OFFSET 0) o ON true;

  IF absent <> '{}' THEN
    at := stet.clock();
    IF current_setting('transaction_isolation') = 'read committed' THEN
      PERFORM stet.enter_claims(c_scope, c_key, c_nonce, c_fingerprint, c_recipe, c_method, c_path, c_scope_rule,
        c_on_unknown, c_retention_ms, c_tombstone_ms, c_lease_ms, absent, at);
    ELSE
      BEGIN
        PERFORM stet.enter_claims(c_scope, c_key, c_nonce, c_fingerprint, c_recipe, c_method, c_path, c_scope_rule,
          c_on_unknown, c_retention_ms, c_tombstone_ms, c_lease_ms, absent, at);
      EXCEPTION WHEN unique_violation THEN
        RAISE 'another transaction has claimed this key since this one began'
          USING ERRCODE = '40001', HINT = 'Begin anew, or use READ COMMITTED.';
      END;
    END IF;
    RETURN QUERY SELECT (stet.claimed(1, n, 1, false, '')).* FROM unnest(absent) n;
    IF cardinality(absent) = total THEN RETURN; END IF;
  END IF;

  at := stet.clock();
  IF again IS NOT NULL THEN
    SELECT array_agg(v.n) FILTER (WHERE v.verdict = 8) INTO again
      FROM stet.run_renewals(again, c_scope, c_key, c_nonce, ARRAY(
             SELECT coalesce(o.attempt, 0)
               FROM unnest(c_scope, c_key) WITH ORDINALITY AS c (scope, key, n)
               LEFT JOIN LATERAL (
                      SELECT o.attempt FROM stet.operations o WHERE o.scope = c.scope AND o.key = c.key OFFSET 0) o ON true
              ORDER BY c.n), c_lease_ms) v;
  END IF;

  RETURN QUERY
    SELECT 1::smallint, s.n::integer, s.verdict::smallint,
           CASE WHEN s.verdict IN (1, 5, 6) THEN s.attempt END,
           CASE WHEN s.verdict IN (1, 5, 6) THEN s.maybe_executed END,
           CASE WHEN s.verdict = 1 THEN s.recovery_point END,
           CASE WHEN s.verdict IN (5, 6) THEN s.nonce END,
           CASE WHEN s.verdict = 4 THEN s.state END,
           CASE WHEN s.verdict = 4 THEN s.fingerprint END,
           CASE WHEN s.verdict = 4 THEN s.recipe END,
           CASE WHEN s.verdict = 4 THEN s.method END,
           CASE WHEN s.verdict = 4 THEN s.path END,
           CASE WHEN s.verdict IN (5, 6) THEN s.scope_rule END,
           CASE WHEN s.verdict IN (5, 6) THEN s.on_unknown END,
           CASE WHEN s.verdict IN (5, 6) THEN s.retention_ms END,
           CASE WHEN s.verdict IN (5, 6) THEN s.tombstone_ms END,
           CASE s.verdict WHEN 3 THEN stet.milliseconds(s.lease_until) - stet.milliseconds(at)
                          WHEN 2 THEN stet.milliseconds(s.expires_at) - stet.milliseconds(at) END,
           CASE WHEN s.verdict = 2 THEN s.status END,
           CASE WHEN s.verdict = 2 THEN s.headers END,
           CASE WHEN s.verdict = 2 THEN s.raw_headers END,
           CASE WHEN s.verdict = 2 THEN s.body END,
           CASE WHEN s.verdict = 2 THEN stet.milliseconds(s.expires_at) END
      FROM (
        SELECT c.n, o.*, l.lease_until,
               CASE WHEN o.scope IS NULL THEN 10  -- being claimed, or gone just now
                    WHEN o.state = 3 THEN 7
                    WHEN o.fingerprint IS DISTINCT FROM c.fingerprint OR o.recipe IS DISTINCT FROM c.recipe THEN 4
                    WHEN o.state = 1 THEN 2
                    WHEN o.state = 2 THEN 6
                    WHEN o.nonce = c.nonce THEN CASE WHEN c.n = ANY (again) THEN 1 ELSE 10 END
                    WHEN l.lease_until > at THEN 3
                    ELSE 5
               END AS verdict
          FROM unnest(c_scope, c_key, c_nonce, c_fingerprint, c_recipe)
               WITH ORDINALITY AS c (scope, key, nonce, fingerprint, recipe, n)
          LEFT JOIN LATERAL (
                 SELECT * FROM stet.operations o WHERE o.scope = c.scope AND o.key = c.key OFFSET 0) o ON true
          LEFT JOIN LATERAL (
                 SELECT l.lease_until FROM stet.leases l
                  WHERE l.scope = o.scope AND l.key = o.key AND l.nonce = o.nonce AND l.attempt = o.attempt OFFSET 0) l
               ON o.state = 0
         WHERE c.n <> ALL (absent)
        OFFSET 0) s;
END
$$;

-- In a service's transaction a lock may last long, and whoever only heard that the key is taken must not keep its owner
-- waiting: he gives the lock back, by the end of a subtransaction.
CREATE FUNCTION stet.locks_for_session(c_scope bytea[], c_key bytea[], wait boolean) RETURNS integer[]
LANGUAGE plpgsql AS $$
DECLARE
  free   integer[] := '{}';
  absent record;
BEGIN
  PERFORM stet.be_durable();
  FOR absent IN
    SELECT c.n::integer AS n, c.scope, c.key, stet.lock_number(c.scope, c.key) AS number
      FROM unnest(c_scope, c_key) WITH ORDINALITY AS c (scope, key, n)
     WHERE NOT EXISTS (SELECT FROM stet.operations o WHERE o.scope = c.scope AND o.key = c.key OFFSET 0)
     ORDER BY c.scope, c.key
  LOOP
    BEGIN
      IF wait THEN
        PERFORM pg_advisory_xact_lock(absent.number);
      ELSIF NOT pg_try_advisory_xact_lock(absent.number) THEN
        CONTINUE;
      END IF;
      PERFORM FROM stet.operations o WHERE o.scope = absent.scope AND o.key = absent.key;
      IF FOUND THEN RAISE SQLSTATE 'STET0'; END IF;
      free := free || absent.n;
    EXCEPTION WHEN SQLSTATE 'STET0' THEN
      NULL;
    END;
  END LOOP;
  RETURN free;
END
$$;

CREATE FUNCTION stet.enter_claims(
  c_scope bytea[], c_key bytea[], c_nonce uuid[], c_fingerprint bytea[], c_recipe text[], c_method text[],
  c_path bytea[], c_scope_rule text[], c_on_unknown smallint[], c_retention_ms bigint[], c_tombstone_ms bigint[],
  c_lease_ms bigint[], which integer[], at timestamptz)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stet.operations (
      scope, key, id, nonce, created_at, sweep_at, retention_ms, tombstone_ms, attempt, state, on_unknown,
      maybe_executed, fingerprint, recipe, method, path, scope_rule, recovery_point)
    SELECT c.scope, c.key, stet.operation_id(c.scope, c.key), c.nonce, at,
           coalesce(stet.after(at, c.retention_ms), 'infinity'), c.retention_ms, c.tombstone_ms, 1, 0,
           c.on_unknown, false, c.fingerprint, c.recipe, c.method, c.path, c.scope_rule, ''
      FROM unnest(c_scope, c_key, c_nonce, c_fingerprint, c_recipe, c_method, c_path, c_scope_rule, c_on_unknown,
                  c_retention_ms, c_tombstone_ms)
           WITH ORDINALITY AS c (scope, key, nonce, fingerprint, recipe, method, path, scope_rule, on_unknown,
                                 retention_ms, tombstone_ms, n)
     WHERE c.n = ANY (which)
     ORDER BY c.scope, c.key;

  -- A row may stand here that an earlier operation of the same key has left.
  INSERT INTO stet.leases AS l (scope, key, nonce, attempt, lease_until)
    SELECT c_scope[n], c_key[n], c_nonce[n], 1, stet.lease_end(at, c_lease_ms[n]) FROM unnest(which) n ORDER BY 1, 2
    ON CONFLICT (scope, key) DO UPDATE
      SET nonce = excluded.nonce, attempt = excluded.attempt, lease_until = excluded.lease_until;
END
$$;
