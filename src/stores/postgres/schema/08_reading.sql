-- For the status location and for operators. `kept`: 0 the whole answer, 1 its head only; null without one.
CREATE TYPE stet.shown AS (
  id uuid, scope bytea, key bytea, nonce uuid, attempt integer, state smallint, maybe_executed boolean,
  fingerprint bytea, recipe text, method text, path bytea, scope_rule text, on_unknown smallint,
  retention_ms bigint, tombstone_ms bigint, recovery_point text, created_at_ms bigint, lease_until_ms bigint,
  expires_at_ms bigint, status integer, headers jsonb, raw_headers bytea, kept smallint, body bytea);

CREATE FUNCTION stet.show(o stet.operations, lease_until timestamptz, now_is timestamptz, body bytea)
RETURNS stet.shown
LANGUAGE sql STABLE
RETURN ROW((o).id, (o).scope, (o).key, (o).nonce, (o).attempt, (o).state, (o).maybe_executed, (o).fingerprint,
  (o).recipe, (o).method, (o).path, (o).scope_rule, (o).on_unknown, (o).retention_ms, (o).tombstone_ms,
  (o).recovery_point, stet.milliseconds((o).created_at),
  CASE WHEN (o).state = 0
       THEN stet.milliseconds(CASE WHEN lease_until > '-infinity' THEN lease_until ELSE now_is END) END,
  stet.milliseconds((o).expires_at), (o).status, (o).headers, (o).raw_headers,
  CASE WHEN (o).state = 1 THEN CASE WHEN (o).body IS NULL THEN 1 ELSE 0 END END::smallint, body)::stet.shown;

CREATE FUNCTION stet.find(wanted uuid) RETURNS SETOF stet.shown
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
  now_is timestamptz := stet.clock();
BEGIN
  RETURN QUERY
    SELECT (stet.show(o, l.lease_until, now_is, o.body)).*
      FROM stet.operations o
      LEFT JOIN stet.leases l ON l.scope = o.scope AND l.key = o.key AND l.nonce = o.nonce AND l.attempt = o.attempt
     WHERE o.id = wanted;
END
$$;

-- Oldest first, after (after_created_ms, after_id) when these are given; without bodies. What is pending or unknown
-- is found among the leases, however many operations there are.
CREATE FUNCTION stet.list(
  wanted_state smallint, wanted_scope bytea, wanted_key bytea, created_before_ms bigint, limit_rows integer,
  after_created_ms bigint DEFAULT NULL, after_id uuid DEFAULT NULL)
RETURNS SETOF stet.shown
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  now_is     timestamptz := stet.clock();
  begin_at   timestamptz := coalesce(stet.at_milliseconds(after_created_ms), '-infinity');
  begin_id   uuid := coalesce(after_id, '00000000-0000-0000-0000-000000000000');
  before     timestamptz := coalesce(stet.at_milliseconds(created_before_ms), 'infinity');
BEGIN
  IF wanted_scope IS NOT NULL AND wanted_key IS NOT NULL THEN
    RETURN QUERY
      SELECT (stet.show(o, l.lease_until, now_is, NULL)).*
        FROM stet.operations o
        LEFT JOIN stet.leases l ON l.scope = o.scope AND l.key = o.key AND l.nonce = o.nonce AND l.attempt = o.attempt
       WHERE o.scope = wanted_scope AND o.key = wanted_key AND (wanted_state IS NULL OR o.state = wanted_state)
         AND o.created_at < before AND (o.created_at, o.id) > (begin_at, begin_id)
       LIMIT limit_rows;
  ELSIF wanted_state IN (0, 2) THEN
    RETURN QUERY
      SELECT (stet.show(o, CASE WHEN l.nonce = o.nonce AND l.attempt = o.attempt THEN l.lease_until END, now_is, NULL)).*
        FROM stet.leases l
        JOIN stet.operations o ON o.scope = l.scope AND o.key = l.key
       WHERE o.state = wanted_state AND (wanted_scope IS NULL OR o.scope = wanted_scope)
         AND (wanted_key IS NULL OR o.key = wanted_key)
         AND o.created_at < before AND (o.created_at, o.id) > (begin_at, begin_id)
       ORDER BY o.created_at, o.id
       LIMIT limit_rows;
  ELSE
    RETURN QUERY
      SELECT (stet.show(o, l.lease_until, now_is, NULL)).*
        FROM (SELECT * FROM stet.operations o
               WHERE (wanted_state IS NULL OR o.state = wanted_state) AND (wanted_scope IS NULL OR o.scope = wanted_scope)
                 AND (wanted_key IS NULL OR o.key = wanted_key)
                 AND o.created_at < before AND (o.created_at, o.id) > (begin_at, begin_id)
               ORDER BY o.created_at, o.id
               LIMIT limit_rows) o
        LEFT JOIN stet.leases l ON l.scope = o.scope AND l.key = o.key AND l.nonce = o.nonce AND l.attempt = o.attempt
       ORDER BY o.created_at, o.id;
  END IF;
END
$$;
