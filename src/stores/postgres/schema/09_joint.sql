-- What a service in any language calls inside its own transaction, so that the key, its rows and the stored
-- answer commit or vanish together. SQLSTATEs: STET1 fenced, 22023 a bad argument, 40001 under REPEATABLE READ or
-- SERIALIZABLE when another transaction came first (begin anew), 55P03 another transaction holds the lease just
-- now (try again).

CREATE FUNCTION stet.claim(
  scope text, key text, fingerprint bytea, lease interval DEFAULT '30 s', wait boolean DEFAULT true,
  OUT verdict text, OUT token text, OUT attempt integer, OUT status integer, OUT headers jsonb, OUT body bytea,
  OUT retry_after interval)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  scope_bytes bytea := convert_to(claim.scope, 'UTF8');
  key_bytes   bytea := convert_to(claim.key, 'UTF8');
  said        stet.outcome;
  new_nonce   uuid := gen_random_uuid();
BEGIN
  IF claim.scope IS NULL OR claim.key IS NULL OR claim.fingerprint IS NULL OR claim.wait IS NULL THEN
    RAISE 'stet.claim: scope, key, fingerprint and wait must not be null (an empty scope is a scope)'
      USING ERRCODE = '22023';
  END IF;
  said := stet.run_claim(
    c_scope => scope_bytes, c_key => key_bytes, c_nonce => new_nonce,
    c_fingerprint => CASE WHEN length(claim.fingerprint) = 32 THEN claim.fingerprint ELSE sha256(claim.fingerprint) END,
    c_recipe => 'sql', c_method => '', c_path => '', c_scope_rule => 'sql', c_on_unknown => 1::smallint,
    c_retention_ms => 86400000, c_tombstone_ms => 86400000,
    c_lease_ms => stet.span_milliseconds(claim.lease, 'stet.claim: lease'), wait => claim.wait);
  verdict := (ARRAY['claimed', 'replay', 'in_progress', 'mismatch', 'lapsed', 'unknown', 'expired', '', '',
                    'in_progress'])[said.verdict];
  attempt := said.attempt;
  token := CASE WHEN said.verdict = 1 THEN stet.token_text(scope_bytes, key_bytes, new_nonce, said.attempt)
                WHEN said.verdict IN (5, 6)
                THEN stet.token_text(scope_bytes, key_bytes, said.nonce, said.attempt) END;
  status := said.status;
  headers := said.headers;
  body := said.body;
  retry_after := CASE said.verdict WHEN 3 THEN said.retry_after_ms * interval '1 millisecond'
                                   WHEN 10 THEN interval '1 second' END;
END
$$;

COMMENT ON FUNCTION stet.claim IS
'Claims the key, or says what has become of it. verdict: claimed (do the work, then stet.complete in the same transaction), replay (status, headers and body are the stored answer), in_progress (another attempt runs; retry_after), mismatch (the key was used for another request), lapsed (an attempt died: stet.take_over the token), unknown (an operator has to settle it), expired (too old to be told). With wait it waits for another transaction''s uncommitted claim of the same key, without it says in_progress. A fingerprint of 32 bytes is taken as it is, another is hashed.
SQLSTATEs: 22023 bad argument; 40001 under REPEATABLE READ when another transaction claimed first.';

-- The commands after the claim, one of them: the verdict, or the SQLSTATE.
CREATE FUNCTION stet.after_claim(
  what integer, held stet.token, new_nonce uuid DEFAULT NULL, lease_ms bigint DEFAULT NULL,
  recovery_point text DEFAULT NULL)
RETURNS stet.outcome
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  said stet.outcome;
BEGIN
  SELECT * INTO STRICT said FROM stet.execute(
    o_what => ARRAY[what::smallint], o_scope => ARRAY[held.scope], o_key => ARRAY[held.key],
    o_nonce => ARRAY[held.nonce], o_attempt => ARRAY[held.attempt], o_new_nonce => ARRAY[new_nonce],
    o_lease_ms => ARRAY[lease_ms], o_recovery_point => ARRAY[recovery_point], in_session => true);
  PERFORM stet.raise_unless_done(said);
  RETURN said;
END
$$;

CREATE FUNCTION stet.raise_unless_done(said stet.outcome) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF said.verdict = 9 THEN PERFORM stet.raise_fenced(); END IF;
  IF said.verdict = 10 THEN
    RAISE 'another transaction holds this operation just now' USING ERRCODE = '55P03', HINT = 'Try again.';
  END IF;
END
$$;

CREATE FUNCTION stet.take_over(token text, lease interval DEFAULT '30 s') RETURNS text
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  held      stet.token := stet.read_token(token);
  new_nonce uuid := gen_random_uuid();
  said      stet.outcome;
BEGIN
  said := stet.after_claim(1, held, new_nonce, stet.span_milliseconds(lease, 'stet.take_over: lease'));
  RETURN stet.token_text(held.scope, held.key, new_nonce, said.attempt);
END
$$;

COMMENT ON FUNCTION stet.take_over IS
'After lapsed: makes the caller the owner of the next attempt, and returns its token. From then on the old token is fenced.
SQLSTATEs: STET1 the operation has moved on, or its lease has not lapsed; 22023 bad argument; 40001 under REPEATABLE READ; 55P03 try again.';

CREATE FUNCTION stet.complete(
  token text, status integer, headers jsonb, body bytea, retention interval DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  held stet.token := stet.read_token(token);
  said stet.outcome;
BEGIN
  IF status IS NULL OR status NOT BETWEEN 200 AND 599 THEN
    RAISE 'stet.complete: status must be a final HTTP status, 200 to 599' USING ERRCODE = '22023';
  END IF;
  headers := coalesce(headers, '[]');
  PERFORM stet.check_headers(headers);
  said := stet.run_complete(
    d_scope => held.scope, d_key => held.key, d_nonce => held.nonce, d_attempt => held.attempt, d_status => status,
    d_headers => headers, d_raw_headers => NULL, d_body => coalesce(body, ''),
    d_retention_ms => CASE WHEN retention IS NOT NULL THEN stet.span_milliseconds(retention, 'stet.complete: retention') END);
  PERFORM stet.raise_unless_done(said);
END
$$;

COMMENT ON FUNCTION stet.complete IS
'Records the answer, which exists when the transaction commits. headers is an array of [name, value] pairs; null headers or body are empty; a null retention is the operation''s own. The same answer again in the same transaction is no error.
SQLSTATEs: STET1 the token no longer holds the operation (roll back: another attempt has it, or another transaction has completed it); 22023 bad argument; 40001 under REPEATABLE READ.';

CREATE FUNCTION stet.fence(token text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
AS $$
DECLARE
  held stet.token := stet.read_token(token);
BEGIN
  PERFORM stet.hold(ARRAY[held.scope], ARRAY[held.key]);
  PERFORM FROM stet.operations o
    WHERE o.scope = held.scope AND o.key = held.key AND o.nonce = held.nonce AND o.attempt = held.attempt
      AND o.state IN (0, 2);
  IF NOT FOUND THEN PERFORM stet.raise_fenced(); END IF;
END
$$;

COMMENT ON FUNCTION stet.fence IS
'Raises unless the token still holds the operation, and keeps it so until the transaction ends: for a service whose gateway records the answer. It does not make a route a joining one.
SQLSTATEs: STET1 the token no longer holds the operation; 22023 bad argument; 40001 under REPEATABLE READ.';

CREATE FUNCTION stet.release(token text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM stet.after_claim(3, stet.read_token(token));
END
$$;

COMMENT ON FUNCTION stet.release IS
'This attempt certainly did nothing: frees the key, so that the next claim runs. When an earlier attempt may have done something, the operation stays, lapsed.
SQLSTATEs: STET1 the token no longer holds the operation; 22023 bad argument; 40001 under REPEATABLE READ; 55P03 try again.';

CREATE FUNCTION stet.renew(token text, lease interval) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  PERFORM stet.after_claim(2, stet.read_token(token), NULL, stet.span_milliseconds(lease, 'stet.renew: lease'));
END
$$;

COMMENT ON FUNCTION stet.renew IS
'The lease ends so long from now. Commit at once: others see it then.
SQLSTATEs: STET1 the token no longer holds the operation, or it is no longer pending; 22023 bad argument; 55P03 try again.';

CREATE FUNCTION stet.advance(token text, recovery_point text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF recovery_point IS NULL THEN
    RAISE 'stet.advance: recovery_point must not be null' USING ERRCODE = '22023';
  END IF;
  PERFORM stet.after_claim(7, stet.read_token(token), NULL, NULL, recovery_point);
END
$$;

COMMENT ON FUNCTION stet.advance IS
'Moves the recovery point forward in the transaction of the phase that has been done.
SQLSTATEs: STET1 the token no longer holds the operation, or it is no longer pending; 22023 bad argument; 40001 under REPEATABLE READ.';

-- stet.run_claims, stet.run_completes and stet.execute for the C++ sessions of an application's role: without settlements
-- by others, and what is stored under another fingerprint is not told.
CREATE FUNCTION stet.claims_as_app(
  c_scope bytea[], c_key bytea[], c_nonce uuid[], c_fingerprint bytea[], c_recipe text[], c_method text[],
  c_path bytea[], c_scope_rule text[], c_on_unknown smallint[], c_retention_ms bigint[], c_tombstone_ms bigint[],
  c_lease_ms bigint[], wait boolean)
RETURNS SETOF stet.outcome
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  said stet.outcome;
BEGIN
  FOR said IN SELECT * FROM stet.run_claims(c_scope, c_key, c_nonce, c_fingerprint, c_recipe, c_method, c_path,
      c_scope_rule, c_on_unknown, c_retention_ms, c_tombstone_ms, c_lease_ms, wait, true)
  LOOP
    IF said.verdict = 4 THEN
      said.fingerprint := NULL;
      said.recipe := NULL;
      said.method := NULL;
      said.path := NULL;
    END IF;
    RETURN NEXT said;
  END LOOP;
END
$$;

CREATE FUNCTION stet.claim_as_app(
  c_scope bytea, c_key bytea, c_nonce uuid, c_fingerprint bytea, c_recipe text, c_method text, c_path bytea,
  c_scope_rule text, c_on_unknown smallint, c_retention_ms bigint, c_tombstone_ms bigint, c_lease_ms bigint, wait boolean)
RETURNS stet.outcome
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  said stet.outcome := stet.run_claim(c_scope, c_key, c_nonce, c_fingerprint, c_recipe, c_method, c_path, c_scope_rule,
    c_on_unknown, c_retention_ms, c_tombstone_ms, c_lease_ms, wait);
BEGIN
  IF said.verdict = 4 THEN
    said.fingerprint := NULL;
    said.recipe := NULL;
    said.method := NULL;
    said.path := NULL;
  END IF;
  RETURN said;
END
$$;

CREATE FUNCTION stet.complete_as_app(
  d_scope bytea, d_key bytea, d_nonce uuid, d_attempt integer, d_status integer, d_headers jsonb, d_raw_headers bytea,
  d_body bytea, d_retention_ms bigint)
RETURNS stet.outcome
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF (d_status BETWEEN 100 AND 599) IS NOT TRUE THEN
    RAISE 'stet.complete_as_app: status must be an HTTP status, 100 to 599' USING ERRCODE = '22023';
  END IF;
  RETURN stet.run_complete(d_scope, d_key, d_nonce, d_attempt, d_status, d_headers, d_raw_headers, d_body, d_retention_ms);
END
$$;

CREATE FUNCTION stet.completes_as_app(
  d_scope bytea[], d_key bytea[], d_nonce uuid[], d_attempt integer[], d_status integer[], d_headers jsonb[],
  d_raw_headers bytea[], d_body bytea[], d_retention_ms bigint[])
RETURNS SETOF stet.outcome
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  FOR i IN 1 .. cardinality(d_status) LOOP
    IF (d_status[i] BETWEEN 100 AND 599) IS NOT TRUE THEN
      RAISE 'stet.completes_as_app: status must be an HTTP status, 100 to 599' USING ERRCODE = '22023';
    END IF;
  END LOOP;
  RETURN QUERY SELECT * FROM stet.run_completes(d_scope, d_key, d_nonce, d_attempt, d_status, d_headers, d_raw_headers,
    d_body, d_retention_ms, true);
END
$$;

CREATE FUNCTION stet.execute_as_app(
  c_scope bytea[], c_key bytea[], c_nonce uuid[], c_fingerprint bytea[], c_recipe text[], c_method text[],
  c_path bytea[], c_scope_rule text[], c_on_unknown smallint[], c_retention_ms bigint[], c_tombstone_ms bigint[],
  c_lease_ms bigint[],
  d_scope bytea[], d_key bytea[], d_nonce uuid[], d_attempt integer[], d_status integer[], d_headers jsonb[],
  d_raw_headers bytea[], d_body bytea[], d_retention_ms bigint[],
  o_what smallint[], o_scope bytea[], o_key bytea[], o_nonce uuid[], o_attempt integer[], o_new_nonce uuid[],
  o_lease_ms bigint[], o_recovery_point text[], o_status integer[], o_headers jsonb[], o_raw_headers bytea[],
  o_body bytea[], wait boolean)
RETURNS SETOF stet.outcome
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  IF o_what && ARRAY[6, 8, 9]::smallint[] THEN
    RAISE 'stet.execute_as_app: only operators settle what they do not own' USING ERRCODE = '42501';
  END IF;
  IF cardinality(c_scope) > 0 THEN
    RETURN QUERY SELECT * FROM stet.claims_as_app(c_scope, c_key, c_nonce, c_fingerprint, c_recipe, c_method, c_path,
      c_scope_rule, c_on_unknown, c_retention_ms, c_tombstone_ms, c_lease_ms, wait);
  END IF;
  IF cardinality(d_scope) > 0 THEN
    RETURN QUERY SELECT * FROM stet.completes_as_app(d_scope, d_key, d_nonce, d_attempt, d_status, d_headers,
      d_raw_headers, d_body, d_retention_ms);
  END IF;
  IF cardinality(o_scope) > 0 THEN
    RETURN QUERY SELECT * FROM stet.execute(o_what => o_what, o_scope => o_scope, o_key => o_key, o_nonce => o_nonce,
      o_attempt => o_attempt, o_new_nonce => o_new_nonce, o_lease_ms => o_lease_ms, o_recovery_point => o_recovery_point,
      o_status => o_status, o_headers => o_headers, o_raw_headers => o_raw_headers, o_body => o_body, in_session => true);
  END IF;
END
$$;

COMMENT ON FUNCTION stet.claims_as_app IS 'What Stet''s C++ library calls; other languages have the functions beside it';
COMMENT ON FUNCTION stet.claim_as_app IS 'What Stet''s C++ library calls; other languages have the functions beside it';
COMMENT ON FUNCTION stet.complete_as_app IS 'What Stet''s C++ library calls; other languages have the functions beside it';
COMMENT ON FUNCTION stet.completes_as_app IS 'What Stet''s C++ library calls; other languages have the functions beside it';
COMMENT ON FUNCTION stet.execute_as_app IS 'What Stet''s C++ library calls; other languages have the functions beside it';
