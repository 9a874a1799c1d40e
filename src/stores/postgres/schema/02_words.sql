-- Small functions that the others share. Those in SQL are inlined where they stand, as long as they claim no more
-- stability than what they call: arithmetic on timestamptz is STABLE.

-- Whole milliseconds. Everything that reads a clock reads this one.
CREATE FUNCTION stet.clock() RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN date_trunc('milliseconds', clock_timestamp());

CREATE FUNCTION stet.milliseconds(at timestamptz) RETURNS bigint
LANGUAGE sql STABLE
RETURN round(date_part('epoch', at) * 1000)::bigint;

-- What a gateway compares its own clocks with before it sweeps.
CREATE FUNCTION stet.now_ms() RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
RETURN stet.milliseconds(stet.clock());

-- Null is never, and so is what leaves the calendar (9999-12-31).
CREATE FUNCTION stet.after(at timestamptz, ms bigint) RETURNS timestamptz
LANGUAGE sql STABLE
RETURN CASE WHEN ms < (253402214400 - date_part('epoch', at)) * 1000 THEN at + ms * interval '1 millisecond' END;

-- No lease is longer than a year.
CREATE FUNCTION stet.lease_end(at timestamptz, ms bigint) RETURNS timestamptz
LANGUAGE sql STABLE
RETURN at + least(ms, 31536000000) * interval '1 millisecond';

-- Not in SQL, so that an expression it stands in costs nothing where it is not called.
CREATE FUNCTION stet.long_length_bytes(length bigint) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN int8send(((length & 255) << 56) | (((length >> 8) & 255) << 48) | (((length >> 16) & 255) << 40)
    | (((length >> 24) & 255) << 32));
END
$$;

-- 64 bits, least significant byte first. No part reaches 4 GiB, and few reach 256 bytes.
CREATE FUNCTION stet.length_bytes(part bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN length(part) < 256 THEN set_byte(int8send(0), 0, length(part))
  ELSE stet.long_length_bytes(length(part)) END;

-- The first 128 bits of SHA-256 over both parts, each preceded by its length.
CREATE FUNCTION stet.operation_id(scope bytea, key bytea) RETURNS uuid
LANGUAGE sql IMMUTABLE
RETURN encode(substr(sha256(stet.length_bytes(scope) || scope || stet.length_bytes(key) || key), 1, 16), 'hex')::uuid;

-- The number of the advisory lock under which an operation is claimed. Two operations with one number only
-- wait for each other in vain.
CREATE FUNCTION stet.lock_number(id uuid) RETURNS bigint
LANGUAGE sql IMMUTABLE
RETURN uuid_hash_extended(id, 5333404);

-- A token as the header Stet-Token has it: v1.<attempt>.<nonce>.<scope>.<key>, the last three hexadecimal.
CREATE FUNCTION stet.token_text(scope bytea, key bytea, nonce uuid, attempt integer) RETURNS text
LANGUAGE sql STABLE
RETURN 'v1.' || attempt || '.' || replace(nonce::text, '-', '') || '.' || encode(scope, 'hex') || '.' || encode(key, 'hex');

CREATE TYPE stet.token AS (scope bytea, key bytea, nonce uuid, attempt integer);

CREATE FUNCTION stet.read_token(token text) RETURNS stet.token
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  parts text[] := regexp_match(token, '^v1[.]([1-9][0-9]{0,9})[.]([0-9a-f]{32})[.]((?:[0-9a-f]{2})*)[.]((?:[0-9a-f]{2})*)$');
BEGIN
  IF parts IS NULL OR parts[1]::bigint > 2147483647 THEN
    RAISE 'this is no token: pass the header Stet-Token, or what stet.claim returned, unchanged'
      USING ERRCODE = '22023';
  END IF;
  RETURN ROW(decode(parts[3], 'hex'), decode(parts[4], 'hex'), parts[2]::uuid, parts[1]::integer)::stet.token;
END
$$;

-- In a service's transaction: whoever sees its claim or its answer acts upon it, so a crash must not lose them, whatever
-- the service's role says of its own rows.
CREATE FUNCTION stet.be_durable() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;
END
$$;

CREATE FUNCTION stet.raise_fenced() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  RAISE 'fenced: this token no longer holds the operation'
    USING ERRCODE = 'STET1', HINT = 'Roll back. Another attempt has it, or it has ended: claim again to learn how.';
END
$$;

CREATE FUNCTION stet.span_milliseconds(span interval, name text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF span IS NULL OR span <= interval '0' THEN
    RAISE '% must be a positive interval, such as ''30 s''', name USING ERRCODE = '22023';
  END IF;
  RETURN ceil(extract(epoch FROM span) * 1000)::bigint;
END
$$;

-- [[name, value], …] that can be sent as they are. Line breaks in a value would be lines of their own.
CREATE FUNCTION stet.check_headers(headers jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  pair jsonb;
BEGIN
  IF jsonb_typeof(headers) = 'array' THEN
    FOR pair IN SELECT value FROM jsonb_array_elements(headers) LOOP
      CONTINUE WHEN jsonb_typeof(pair) = 'array' AND jsonb_array_length(pair) = 2
        AND jsonb_typeof(pair -> 0) = 'string' AND jsonb_typeof(pair -> 1) = 'string'
        AND pair ->> 0 ~ '^[!#$%&''*+.^_`|~0-9A-Za-z-]+$' AND pair ->> 1 !~ E'[\x01-\x08\x0a-\x1f\x7f]';
      RAISE 'headers: % is no [name, value] that can be sent', pair USING ERRCODE = '22023';
    END LOOP;
    RETURN;
  END IF;
  RAISE 'headers must be an array of pairs, such as [["Content-Type", "application/json"]]' USING ERRCODE = '22023';
END
$$;

-- What one command came to. verdict: 1 claimed, 2 replay, 3 in progress, 4 mismatch, 5 lapsed, 6 unknown,
-- 7 expired, 8 ok, 9 fenced, 10 locked (another transaction holds the row; nothing was changed). Columns that
-- a verdict does not need are null. retry_after_ms: what is left of the lease (in progress) or of the retention
-- (replay, and ok of a completion; null: for ever).
CREATE TYPE stet.outcome AS (
  list smallint, n integer, verdict smallint, attempt integer, maybe_executed boolean, recovery_point text,
  nonce uuid, state smallint, fingerprint bytea, recipe text, method text, path bytea, scope_rule text,
  on_unknown smallint, retention_ms bigint, tombstone_ms bigint, retry_after_ms bigint, status integer,
  headers jsonb, raw_headers bytea, body bytea, expires_at_ms bigint);

CREATE FUNCTION stet.verdict(list integer, n integer, verdict integer) RETURNS stet.outcome
LANGUAGE sql IMMUTABLE
RETURN ROW(list::smallint, n, verdict::smallint, null, null, null, null, null, null, null, null, null, null, null,
  null, null, null, null, null, null, null, null)::stet.outcome;

-- With what a cache needs beside the answer, which the caller has: the fingerprint, and how long it holds.
CREATE FUNCTION stet.completed(
  list integer, n integer, fingerprint bytea, recipe text, at timestamptz, expires_at timestamptz)
RETURNS stet.outcome
LANGUAGE sql STABLE
RETURN ROW(list::smallint, n, 8::smallint, null, null, null, null, null, fingerprint, recipe, null, null, null, null,
  null, null, stet.milliseconds(expires_at) - stet.milliseconds(at), null, null, null, null,
  stet.milliseconds(expires_at))::stet.outcome;

CREATE FUNCTION stet.claimed(list integer, n integer, attempt integer, maybe_executed boolean, recovery_point text)
RETURNS stet.outcome
LANGUAGE sql IMMUTABLE
RETURN ROW(list::smallint, n, 1::smallint, attempt, maybe_executed, recovery_point, null, null, null, null, null, null,
  null, null, null, null, null, null, null, null, null, null)::stet.outcome;
