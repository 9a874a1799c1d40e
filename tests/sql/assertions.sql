CREATE SCHEMA test;

CREATE FUNCTION test.equal(what text, got anyelement, wanted anyelement) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF got IS DISTINCT FROM wanted THEN RAISE '%: % where % was meant', what, got, wanted; END IF;
END
$$;

-- The statement must fail with that SQLSTATE.
CREATE FUNCTION test.raises(sqlstate_meant text, statement text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  BEGIN
    EXECUTE statement;
  EXCEPTION WHEN OTHERS THEN
    IF SQLSTATE = sqlstate_meant THEN RETURN; END IF;
    RAISE '% failed with % (%), not with %', statement, SQLSTATE, SQLERRM, sqlstate_meant;
  END;
  RAISE '% did not fail', statement;
END
$$;

-- Stet's time stands still here, and is moved by hand.
CREATE TABLE test.clock (at timestamptz);
INSERT INTO test.clock VALUES ('2026-03-01T00:00:00Z');
CREATE OR REPLACE FUNCTION stet.clock() RETURNS timestamptz
LANGUAGE sql VOLATILE SECURITY DEFINER
RETURN (SELECT at FROM test.clock);

CREATE FUNCTION test.pass(span interval) RETURNS void
LANGUAGE sql AS $$ UPDATE test.clock SET at = at + span $$;

CREATE FUNCTION test.state(scope text, key text) RETURNS text
LANGUAGE sql AS $$
  SELECT coalesce((SELECT (ARRAY['pending', 'completed', 'unknown', 'expired'])[o.state + 1]
                     FROM stet.operations o
                    WHERE o.scope = convert_to($1, 'UTF8') AND o.key = convert_to($2, 'UTF8')), 'absent')
$$;

-- A claim that must be granted; its token.
CREATE FUNCTION test.claimed(key text, lease interval DEFAULT '30 s') RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  said record;
BEGIN
  SELECT * INTO said FROM stet.claim('hotel-1', key, 'the request', lease);
  PERFORM test.equal('verdict', said.verdict, 'claimed');
  RETURN said.token;
END
$$;

CREATE FUNCTION test.verdict(key text, fingerprint bytea DEFAULT 'the request') RETURNS text
LANGUAGE sql AS $$ SELECT verdict FROM stet.claim('hotel-1', key, fingerprint) $$;
