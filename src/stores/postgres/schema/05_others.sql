-- The commands that come one by one: take-over, release, give-back, settlements, recovery points.

-- For a service's own transaction, which may wait: keeps every operation of these as it is until the
-- transaction ends. The advisory lock comes first, so that a claim that got it never meets a row in the unique
-- index that is about to go.
CREATE FUNCTION stet.hold(o_scope bytea[], o_key bytea[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM stet.be_durable();
  PERFORM pg_advisory_xact_lock(stet.lock_number(stet.operation_id(s.scope, s.key)))
     FROM (SELECT scope, key FROM unnest(o_scope, o_key) AS u (scope, key) ORDER BY 1, 2 OFFSET 0) s;
  PERFORM FROM unnest(o_scope, o_key) AS u (scope, key)
    CROSS JOIN LATERAL (
            SELECT FROM stet.operations o WHERE o.scope = u.scope AND o.key = u.key FOR NO KEY UPDATE) o;
END
$$;

-- What it does stands in docs/protocol.md; what is 1 to 9, at stet.execute.
CREATE FUNCTION stet.run_one(
  what integer, n integer, o_scope bytea, o_key bytea, o_nonce uuid, o_attempt integer, new_nonce uuid,
  lease_ms bigint, new_point text, new_status integer, new_headers jsonb, new_raw_headers bytea, new_body bytea,
  in_session boolean)
RETURNS stet.outcome
LANGUAGE plpgsql AS $$
DECLARE
  o       stet.operations;
  l       stet.leases;
  at      timestamptz;
  ours    boolean;
  pending boolean;
  lapsed  boolean;
  ends    timestamptz;
BEGIN
  SELECT * INTO o FROM stet.operations WHERE scope = o_scope AND key = o_key FOR NO KEY UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN stet.verdict(3, n, stet.not_seen(o_scope, o_key));
  END IF;
  ours := o.nonce IS NOT DISTINCT FROM o_nonce AND o.attempt IS NOT DISTINCT FROM o_attempt;
  pending := o.state = 0;

  IF what = 7 THEN
    IF NOT (ours AND pending) THEN RETURN stet.verdict(3, n, 9); END IF;
    UPDATE stet.operations SET recovery_point = new_point WHERE scope = o_scope AND key = o_key;
    RETURN stet.verdict(3, n, 8);
  END IF;

  -- Whoever changes the owner or the end of a lease holds both rows.
  IF o.state IN (0, 2) AND in_session THEN
    SELECT * INTO l FROM stet.leases WHERE scope = o_scope AND key = o_key FOR UPDATE;
  ELSIF o.state IN (0, 2) THEN
    SELECT * INTO l FROM stet.leases WHERE scope = o_scope AND key = o_key FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      PERFORM FROM stet.leases WHERE scope = o_scope AND key = o_key;
      IF FOUND THEN RETURN stet.verdict(3, n, 10); END IF;
    END IF;
  END IF;
  at := stet.clock();
  lapsed := l.lease_until IS NULL OR l.nonce <> o.nonce OR l.attempt <> o.attempt OR l.lease_until <= at;

  CASE what
  WHEN 1 THEN
    IF pending AND o.nonce = new_nonce AND o.attempt = o_attempt + 1 THEN
      NULL;  -- the reply was lost
    ELSIF pending AND ours AND lapsed THEN
      -- How the attempt before ended nobody knows, unless it was to complete in its own transaction: then that
      -- the operation is pending proves that nothing was committed.
      UPDATE stet.operations
         SET nonce = new_nonce, attempt = o_attempt + 1, maybe_executed = maybe_executed OR on_unknown <> 3
       WHERE scope = o_scope AND key = o_key
       RETURNING * INTO o;
    ELSE
      RETURN stet.verdict(3, n, 9);
    END IF;
    PERFORM stet.put_lease(o, stet.lease_end(at, lease_ms));
    RETURN stet.claimed(3, n, o.attempt, o.maybe_executed, o.recovery_point);

  WHEN 3, 4 THEN
    IF NOT (ours AND pending) THEN RETURN stet.verdict(3, n, 9); END IF;
    IF what = 3 AND NOT o.maybe_executed THEN
      PERFORM stet.free(o, in_session);
      RETURN stet.verdict(3, n, 8);
    END IF;
    IF NOT o.maybe_executed THEN
      UPDATE stet.operations SET maybe_executed = true WHERE scope = o_scope AND key = o_key;
    END IF;
    PERFORM stet.put_lease(o, '-infinity');
    RETURN stet.verdict(3, n, 8);

  WHEN 5, 6 THEN
    IF NOT ours OR o.state NOT IN (0, 2) OR (pending AND what = 6 AND NOT lapsed) THEN
      RETURN stet.verdict(3, n, 9);
    END IF;
    IF pending THEN
      UPDATE stet.operations SET state = 2 WHERE scope = o_scope AND key = o_key;
      PERFORM stet.put_lease(o, '-infinity');
    END IF;
    RETURN stet.verdict(3, n, 8);

  WHEN 8, 9 THEN
    IF what = 8 AND o.state = 1 AND o.nonce = new_nonce AND o.attempt = o_attempt THEN
      IF (o.status, o.headers, o.raw_headers, o.body)
         IS NOT DISTINCT FROM (new_status, new_headers, new_raw_headers, new_body) THEN
        RETURN stet.completed(3, n, o.fingerprint, o.recipe, at, o.expires_at);
      END IF;
      RETURN stet.verdict(3, n, 9);
    END IF;
    IF NOT ours OR NOT (o.state = 2 OR (pending AND lapsed)) THEN RETURN stet.verdict(3, n, 9); END IF;
    IF what = 9 THEN
      PERFORM stet.free(o, in_session);
      RETURN stet.verdict(3, n, 8);
    END IF;
    ends := stet.after(at, o.retention_ms);
    UPDATE stet.operations
       SET nonce = new_nonce, state = 1, status = new_status, headers = new_headers, raw_headers = new_raw_headers,
           body = new_body, expires_at = ends, sweep_at = least(sweep_at, ends)
     WHERE scope = o_scope AND key = o_key;
    DELETE FROM stet.leases WHERE scope = o_scope AND key = o_key;
    RETURN stet.completed(3, n, o.fingerprint, o.recipe, at, ends);
  END CASE;
END
$$;

-- The operation's row is held, and its lease's if there is one.
CREATE FUNCTION stet.put_lease(o stet.operations, ends timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stet.leases AS l (scope, key, nonce, attempt, lease_until)
    VALUES (o.scope, o.key, o.nonce, o.attempt, ends)
    ON CONFLICT (scope, key) DO UPDATE
      SET nonce = excluded.nonce, attempt = excluded.attempt, lease_until = excluded.lease_until;
END
$$;

CREATE FUNCTION stet.free(o stet.operations, in_session boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM stet.operations WHERE scope = o.scope AND key = o.key;
  DELETE FROM stet.leases
   WHERE scope = o.scope AND key = o.key AND (NOT in_session OR xmin = pg_current_xact_id()::xid);
END
$$;
