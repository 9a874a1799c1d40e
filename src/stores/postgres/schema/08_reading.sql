-- For the status location and for operators. `kept`: 0 the whole answer, 1 its head only; null without one.
CREATE TYPE stet.shown AS (
  id uuid, scope bytea, key bytea, nonce uuid, attempt integer, state smallint, maybe_executed boolean,
  fingerprint bytea, recipe text, method text, path bytea, scope_rule text, on_unknown smallint,
  retention_ms bigint, tombstone_ms bigint, recovery_point text, created_at_us bigint, lease_until_ms bigint,
  expires_at_ms bigint, status integer, headers jsonb, raw_headers bytea, kept smallint, body bytea);

CREATE FUNCTION stet.show(o stet.operations, lease_until timestamptz, now_is timestamptz, body bytea)
RETURNS stet.shown
LANGUAGE sql STABLE
RETURN ROW((o).id, (o).scope, (o).key, (o).nonce, (o).attempt, (o).state, (o).maybe_executed, nullif((o).fingerprint, ''),
  (o).recipe, (o).method, (o).path, (o).scope_rule, (o).on_unknown, (o).retention_ms, (o).tombstone_ms,
  (o).recovery_point, round(date_part('epoch', (o).created_at) * 1000000)::bigint,
  CASE WHEN (o).state = 0
       THEN stet.milliseconds(CASE WHEN lease_until > '-infinity' THEN lease_until ELSE now_is END) END,
  stet.milliseconds((o).expires_at), (o).status, (o).headers, (o).raw_headers,
  CASE WHEN (o).state = 1 THEN CASE WHEN (o).body IS NULL THEN 1 ELSE 0 END END::smallint, body)::stet.shown;

CREATE FUNCTION stet.find(wanted uuid) RETURNS SETOF stet.shown
LANGUAGE plpgsql SECURITY DEFINER AS $$
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

-- Oldest first, those after (p_after_us, p_after_id); without bodies. p_lapsed: only pending ones whose lease is over.
-- A null filters nothing. What is pending or unknown is found among the leases, however many operations there are: each
-- is searched for by itself, as a join might read all operations.
CREATE FUNCTION stet.list(
  p_state smallint, p_scope bytea, p_key bytea, p_created_before_ms bigint, p_lapsed boolean, p_limit integer,
  p_after_us bigint DEFAULT NULL, p_after_id uuid DEFAULT NULL)
RETURNS SETOF stet.shown
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
SET jit = off  -- it would compile for a second or more what runs in milliseconds
AS $$
DECLARE
  now_is   timestamptz := stet.clock();
  wanted   smallint := CASE WHEN p_lapsed THEN 0 ELSE p_state END;
  after_at timestamptz := coalesce(timestamptz 'epoch' + p_after_us * interval '1 microsecond', '-infinity');
  after_id uuid := coalesce(p_after_id, '00000000-0000-0000-0000-000000000000');
  before   timestamptz := coalesce(timestamptz 'epoch' + p_created_before_ms * interval '1 millisecond', 'infinity');
BEGIN
  IF p_lapsed AND p_state <> 0 THEN RETURN; END IF;
  IF p_scope IS NOT NULL AND p_key IS NOT NULL THEN
    RETURN QUERY
      SELECT (stet.show(o, l.lease_until, now_is, NULL)).*
        FROM stet.operations o
        LEFT JOIN stet.leases l ON l.scope = o.scope AND l.key = o.key AND l.nonce = o.nonce AND l.attempt = o.attempt
       WHERE o.scope = p_scope AND o.key = p_key AND (wanted IS NULL OR o.state = wanted)
         AND (NOT coalesce(p_lapsed, false) OR coalesce(l.lease_until <= now_is, true))
         AND o.created_at < before AND (o.created_at, o.id) > (after_at, after_id)
       LIMIT p_limit;
  ELSIF wanted IN (0, 2) THEN
    RETURN QUERY
      SELECT (stet.show(o, CASE WHEN l.nonce = o.nonce AND l.attempt = o.attempt THEN l.lease_until END, now_is, NULL)).*
        FROM stet.leases l
       CROSS JOIN LATERAL (
               SELECT * FROM stet.operations o WHERE o.scope = l.scope AND o.key = l.key AND o.state = wanted OFFSET 0) o
       WHERE (p_scope IS NULL OR l.scope = p_scope) AND (p_key IS NULL OR l.key = p_key)
         AND (NOT coalesce(p_lapsed, false) OR l.lease_until <= now_is OR l.nonce <> o.nonce OR l.attempt <> o.attempt)
         AND o.created_at < before AND (o.created_at, o.id) > (after_at, after_id)
       ORDER BY o.created_at, o.id
       LIMIT p_limit;
  ELSE
    RETURN QUERY
      SELECT (stet.show(o, l.lease_until, now_is, NULL)).*
        FROM (SELECT * FROM stet.operations o
               WHERE (wanted IS NULL OR o.state = wanted) AND (p_scope IS NULL OR o.scope = p_scope)
                 AND (p_key IS NULL OR o.key = p_key)
                 AND o.created_at < before AND (o.created_at, o.id) > (after_at, after_id)
               ORDER BY o.created_at, o.id
               LIMIT p_limit) o
        LEFT JOIN stet.leases l ON l.scope = o.scope AND l.key = o.key AND l.nonce = o.nonce AND l.attempt = o.attempt
       ORDER BY o.created_at, o.id;
  END IF;
END
$$;
