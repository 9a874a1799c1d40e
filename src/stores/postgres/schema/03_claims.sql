-- Claims of a batch, each (scope, key) once. Part of stet.execute, and called by itself for a batch of nothing else.
--
-- Whoever inserts a row holds its advisory lock to the end of the transaction. Who has the lock and then looks, in
-- a statement of its own, sees all that was committed; so the INSERT meets nobody's row and waits for nobody. That
-- a key is given once is up to the unique index alone: should the lock fail of its purpose, the INSERT fails.
CREATE FUNCTION stet.run_claims(
  c_scope bytea[], c_key bytea[], c_nonce uuid[], c_fingerprint bytea[], c_recipe text[], c_method text[],
  c_path bytea[], c_scope_rule text[], c_on_unknown smallint[], c_retention_ms bigint[], c_tombstone_ms bigint[],
  c_lease_ms bigint[], wait boolean, in_session boolean)
RETURNS SETOF stet.outcome
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  total    integer := cardinality(c_scope);
  ids      uuid[] := '{}';
  free     integer[] := '{}';  -- whose lock is ours
  entered  integer[] := '{}';  -- of these, nobody's yet
  again    integer[];          -- ours already: the first reply was lost
  attempts integer[];
  at       timestamptz;
BEGIN
  FOR i IN 1 .. total LOOP
    ids := ids || stet.operation_id(c_scope[i], c_key[i]);
    IF NOT in_session AND pg_try_advisory_xact_lock(stet.lock_number(ids[i])) THEN free := free || i; END IF;
  END LOOP;
  IF in_session THEN free := stet.locks_for_session(c_scope, c_key, ids, wait); END IF;

  IF free <> '{}' THEN
    at := stet.clock();
    IF current_setting('transaction_isolation') = 'read committed' THEN
      entered := stet.enter_claims(c_scope, c_key, ids, c_nonce, c_fingerprint, c_recipe, c_method, c_path, c_scope_rule,
        c_on_unknown, c_retention_ms, c_tombstone_ms, c_lease_ms, free, at);
    ELSE
      BEGIN
        entered := stet.enter_claims(c_scope, c_key, ids, c_nonce, c_fingerprint, c_recipe, c_method, c_path, c_scope_rule,
          c_on_unknown, c_retention_ms, c_tombstone_ms, c_lease_ms, free, at);
      EXCEPTION WHEN unique_violation THEN
        RAISE 'another transaction has claimed this key since this one began'
          USING ERRCODE = '40001', HINT = 'Begin anew, or use READ COMMITTED.';
      END;
    END IF;
    FOR i IN 1 .. cardinality(entered) LOOP
      RETURN NEXT stet.claimed(1, entered[i], 1, false, '');
    END LOOP;
    IF cardinality(entered) = total THEN RETURN; END IF;
  END IF;

  at := stet.clock();
  SELECT array_agg(n) FILTER (WHERE o.attempt IS NOT NULL), array_agg(o.attempt ORDER BY n) INTO again, attempts
    FROM generate_series(1, total) n
    LEFT JOIN LATERAL (
           SELECT o.attempt FROM stet.operations o
            WHERE o.scope = c_scope[n] AND o.key = c_key[n] AND o.state = 0 AND o.nonce = c_nonce[n] OFFSET 0) o
           ON n <> ALL (entered);
  IF again IS NOT NULL THEN
    SELECT array_agg(v.n) FILTER (WHERE v.verdict = 8) INTO again
      FROM stet.run_renewals(again, c_scope, c_key, c_nonce, attempts, c_lease_ms) v;
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
        SELECT n, o.*, l.lease_until,
               CASE WHEN o.scope IS NULL THEN 10  -- being claimed, or gone just now
                    WHEN o.state = 3 THEN 7
                    WHEN o.fingerprint IS DISTINCT FROM c_fingerprint[n] OR o.recipe IS DISTINCT FROM c_recipe[n] THEN 4
                    WHEN o.state = 1 THEN 2
                    WHEN o.state = 2 THEN 6
                    WHEN o.nonce = c_nonce[n] THEN CASE WHEN n = ANY (again) THEN 1 ELSE 10 END
                    WHEN l.lease_until > at THEN 3
                    ELSE 5
               END AS verdict
          FROM generate_series(1, total) n
          LEFT JOIN LATERAL (
                 SELECT * FROM stet.operations o WHERE o.scope = c_scope[n] AND o.key = c_key[n] OFFSET 0) o ON true
          LEFT JOIN LATERAL (
                 SELECT l.lease_until FROM stet.leases l
                  WHERE l.scope = o.scope AND l.key = o.key AND l.nonce = o.nonce AND l.attempt = o.attempt OFFSET 0) l
               ON o.state = 0
         WHERE n <> ALL (entered)
        OFFSET 0) s;
END
$$;

-- In a service's transaction a lock may last long, and whoever only heard that the key is taken must not keep its owner
-- waiting: he gives the lock back, by the end of a subtransaction.
CREATE FUNCTION stet.locks_for_session(c_scope bytea[], c_key bytea[], ids uuid[], wait boolean) RETURNS integer[]
LANGUAGE plpgsql AS $$
DECLARE
  free   integer[] := '{}';
  absent integer;
BEGIN
  PERFORM stet.be_durable();
  FOR absent IN
    SELECT n FROM generate_series(1, cardinality(c_scope)) n
     WHERE NOT EXISTS (SELECT FROM stet.operations o WHERE o.scope = c_scope[n] AND o.key = c_key[n] OFFSET 0)
     ORDER BY c_scope[n], c_key[n]
  LOOP
    BEGIN
      IF wait THEN
        PERFORM pg_advisory_xact_lock(stet.lock_number(ids[absent]));
      ELSIF NOT pg_try_advisory_xact_lock(stet.lock_number(ids[absent])) THEN
        CONTINUE;
      END IF;
      PERFORM FROM stet.operations o WHERE o.scope = c_scope[absent] AND o.key = c_key[absent];
      IF FOUND THEN RAISE SQLSTATE 'STET0'; END IF;
      free := free || absent;
    EXCEPTION WHEN SQLSTATE 'STET0' THEN
      NULL;
    END;
  END LOOP;
  RETURN free;
END
$$;

-- Those of `free` that are nobody's yet: all of them are entered, or the statement fails.
CREATE FUNCTION stet.enter_claims(
  c_scope bytea[], c_key bytea[], ids uuid[], c_nonce uuid[], c_fingerprint bytea[], c_recipe text[], c_method text[],
  c_path bytea[], c_scope_rule text[], c_on_unknown smallint[], c_retention_ms bigint[], c_tombstone_ms bigint[],
  c_lease_ms bigint[], free integer[], at timestamptz)
RETURNS integer[]
LANGUAGE plpgsql AS $$
DECLARE
  these integer[];
BEGIN
  WITH absent AS MATERIALIZED (
    SELECT c.n, c.scope, c.key
      FROM (SELECT n, c_scope[n] AS scope, c_key[n] AS key FROM unnest(free) n OFFSET 0) c
     WHERE NOT EXISTS (SELECT FROM stet.operations o WHERE o.scope = c.scope AND o.key = c.key OFFSET 0)),
  entered AS (
    INSERT INTO stet.operations (
        scope, key, id, nonce, created_at, sweep_at, retention_ms, tombstone_ms, attempt, state, on_unknown,
        maybe_executed, fingerprint, recipe, method, path, scope_rule, recovery_point)
      SELECT scope, key, ids[n], c_nonce[n], at, coalesce(stet.after(at, c_retention_ms[n]), 'infinity'),
             c_retention_ms[n], c_tombstone_ms[n], 1, 0, c_on_unknown[n], false, c_fingerprint[n], c_recipe[n],
             c_method[n], c_path[n], c_scope_rule[n], ''
        FROM absent),
  leased AS (
    -- A row may stand here that an earlier operation of the same key has left.
    INSERT INTO stet.leases AS l (scope, key, nonce, attempt, lease_until)
      SELECT scope, key, c_nonce[n], 1, stet.lease_end(at, c_lease_ms[n]) FROM absent
      ON CONFLICT (scope, key) DO UPDATE
        SET nonce = excluded.nonce, attempt = excluded.attempt, lease_until = excluded.lease_until)
  SELECT coalesce(array_agg(n), '{}') INTO these FROM absent;
  RETURN these;
END
$$;

-- ---- One claim, of a service's transaction ----
--
-- The same as run_claims does for many, written out: whose key is known before a statement starts opens one partition, who
-- looks keys up in an array opens all of them, which cost this claim more than twice as much. tests/sql/test_alone.py holds
-- the two against each other.
CREATE FUNCTION stet.run_claim(
  c_scope bytea, c_key bytea, c_nonce uuid, c_fingerprint bytea, c_recipe text, c_method text, c_path bytea,
  c_scope_rule text, c_on_unknown smallint, c_retention_ms bigint, c_tombstone_ms bigint, c_lease_ms bigint,
  wait boolean)
RETURNS stet.outcome
LANGUAGE plpgsql AS $$
DECLARE
  c_id    uuid := stet.operation_id(c_scope, c_key);
  ours    integer;  -- the attempt of a claim that is ours already: the first reply was lost
  renewed boolean;
  at      timestamptz;
  said    stet.outcome;
BEGIN
  IF stet.lock_absent(c_scope, c_key, stet.lock_number(c_id), wait) THEN
    at := stet.clock();
    IF current_setting('transaction_isolation') = 'read committed' THEN
      PERFORM stet.enter_claim(c_scope, c_key, c_id, c_nonce, c_fingerprint, c_recipe, c_method, c_path, c_scope_rule,
        c_on_unknown, c_retention_ms, c_tombstone_ms, c_lease_ms, at);
    ELSE
      BEGIN
        PERFORM stet.enter_claim(c_scope, c_key, c_id, c_nonce, c_fingerprint, c_recipe, c_method, c_path, c_scope_rule,
          c_on_unknown, c_retention_ms, c_tombstone_ms, c_lease_ms, at);
      EXCEPTION WHEN unique_violation THEN
        RAISE 'another transaction has claimed this key since this one began'
          USING ERRCODE = '40001', HINT = 'Begin anew, or use READ COMMITTED.';
      END;
    END IF;
    RETURN stet.claimed(1, 1, 1, false, '');
  END IF;

  at := stet.clock();
  SELECT o.attempt INTO ours
    FROM stet.operations o WHERE o.scope = c_scope AND o.key = c_key AND o.state = 0 AND o.nonce = c_nonce;
  IF FOUND THEN
    SELECT r.verdict = 8 INTO renewed
      FROM stet.run_renewals(ARRAY[1], ARRAY[c_scope], ARRAY[c_key], ARRAY[c_nonce], ARRAY[ours], ARRAY[c_lease_ms]) r;
  END IF;

  SELECT 1::smallint, 1, s.verdict::smallint,
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
    INTO STRICT said
    FROM (
      SELECT o.*, l.lease_until,
             CASE WHEN o.scope IS NULL THEN 10  -- being claimed, or gone just now
                  WHEN o.state = 3 THEN 7
                  WHEN o.fingerprint IS DISTINCT FROM c_fingerprint OR o.recipe IS DISTINCT FROM c_recipe THEN 4
                  WHEN o.state = 1 THEN 2
                  WHEN o.state = 2 THEN 6
                  WHEN o.nonce = c_nonce THEN CASE WHEN renewed THEN 1 ELSE 10 END
                  WHEN l.lease_until > at THEN 3
                  ELSE 5
             END AS verdict
        FROM (SELECT) one
        LEFT JOIN LATERAL (
               SELECT * FROM stet.operations o WHERE o.scope = c_scope AND o.key = c_key OFFSET 0) o ON true
        LEFT JOIN LATERAL (
               SELECT l.lease_until FROM stet.leases l
                WHERE l.scope = o.scope AND l.key = o.key AND l.nonce = o.nonce AND l.attempt = o.attempt OFFSET 0) l
             ON o.state = 0
      OFFSET 0) s;
  RETURN said;
END
$$;

-- Whether the key is nobody's; its lock is then ours to the end of the transaction. The look under the lock is a statement of
-- its own, as for a batch. The lock of a key that is somebody's goes with the subtransaction.
CREATE FUNCTION stet.lock_absent(c_scope bytea, c_key bytea, number bigint, wait boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM stet.be_durable();
  BEGIN
    IF NOT pg_try_advisory_xact_lock(number) THEN
      -- Whoever completes a record has its lock, too, and is not waited for.
      PERFORM FROM stet.operations o WHERE o.scope = c_scope AND o.key = c_key;
      IF FOUND OR NOT wait THEN RETURN false; END IF;
      PERFORM pg_advisory_xact_lock(number);
    END IF;
    PERFORM FROM stet.operations o WHERE o.scope = c_scope AND o.key = c_key;
    IF FOUND THEN RAISE SQLSTATE 'STET0'; END IF;
    RETURN true;
  EXCEPTION WHEN SQLSTATE 'STET0' THEN
    RETURN false;
  END;
END
$$;

-- A key that lock_absent has found to be nobody's.
CREATE FUNCTION stet.enter_claim(
  c_scope bytea, c_key bytea, c_id uuid, c_nonce uuid, c_fingerprint bytea, c_recipe text, c_method text, c_path bytea,
  c_scope_rule text, c_on_unknown smallint, c_retention_ms bigint, c_tombstone_ms bigint, c_lease_ms bigint,
  at timestamptz)
RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  WITH leased AS (
    -- A row may stand here that an earlier operation of the same key has left.
    INSERT INTO stet.leases AS l (scope, key, nonce, attempt, lease_until)
      VALUES (c_scope, c_key, c_nonce, 1, stet.lease_end(at, c_lease_ms))
      ON CONFLICT (scope, key) DO UPDATE
        SET nonce = excluded.nonce, attempt = excluded.attempt, lease_until = excluded.lease_until)
  INSERT INTO stet.operations (
      scope, key, id, nonce, created_at, sweep_at, retention_ms, tombstone_ms, attempt, state, on_unknown,
      maybe_executed, fingerprint, recipe, method, path, scope_rule, recovery_point)
    VALUES (c_scope, c_key, c_id, c_nonce, at, coalesce(stet.after(at, c_retention_ms), 'infinity'),
            c_retention_ms, c_tombstone_ms, 1, 0, c_on_unknown, false, c_fingerprint, c_recipe, c_method, c_path,
            c_scope_rule, '');
END
$$;
