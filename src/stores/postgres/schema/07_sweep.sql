-- One slice of the sweep: at most `limit_rows` operations; several gateways share the work, as each passes over
-- what another one holds. `more`: another slice would find something now.
--
-- An operation is looked at when its `sweep_at` has come. One that is still open can end no earlier than now plus
-- its retention, so it is looked at again then. One that ends within minutes is left at the head of the queue:
-- writing to it twice would cost more than reading it again.
CREATE FUNCTION stet.sweep(limit_rows integer, OUT expired integer, OUT removed integer, OUT more boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $$
DECLARE
  at     timestamptz := stet.clock();
  looked integer;
  stale  integer;
BEGIN
  WITH due AS MATERIALIZED (
    SELECT o.scope, o.key, o.state, o.expires_at, o.retention_ms, o.tombstone_ms,
           o.state IN (1, 3) AND o.expires_at <= at AS over
      FROM stet.operations o
     WHERE o.sweep_at <= at
       AND (o.state IN (0, 2) OR o.expires_at IS NULL OR o.expires_at <= at OR o.expires_at > at + interval '10 minutes')
     ORDER BY o.sweep_at
     LIMIT limit_rows
       FOR UPDATE SKIP LOCKED),
  ended AS (
    UPDATE stet.operations o
       SET state = 3, status = NULL, headers = NULL, raw_headers = NULL, body = NULL, fingerprint = '', recipe = '',
           recovery_point = '', expires_at = stet.after(at, due.tombstone_ms),
           sweep_at = coalesce(stet.after(at, due.tombstone_ms), 'infinity')
      FROM due
     WHERE due.over AND due.state = 1 AND coalesce(due.tombstone_ms, 1) > 0
       AND o.scope = due.scope AND o.key = due.key),
  gone AS (
    DELETE FROM stet.operations o
     USING due
     WHERE due.over AND (due.state = 3 OR due.tombstone_ms <= 0)
       AND o.scope = due.scope AND o.key = due.key),
  later AS (
    UPDATE stet.operations o
       SET sweep_at = CASE WHEN due.state IN (1, 3) THEN coalesce(due.expires_at, 'infinity')
                           ELSE coalesce(stet.after(at, greatest(due.retention_ms, 3600000)), 'infinity') END
      FROM due
     WHERE NOT coalesce(due.over, false) AND o.scope = due.scope AND o.key = due.key)
  SELECT count(*) FILTER (WHERE over AND state = 1), count(*) FILTER (WHERE over AND state = 3), count(*)
    INTO expired, removed, looked
    FROM due;
  stale := stet.sweep_leases(limit_rows, at);
  more := limit_rows > 0 AND (looked = limit_rows OR stale = limit_rows);
END
$$;

-- Leases whose operation has moved on: a service completed it in its own transaction.
CREATE FUNCTION stet.sweep_leases(limit_rows integer, at timestamptz) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  found_at tid[];
BEGIN
  SELECT array_agg(s.ctid) INTO found_at
    FROM (SELECT l.ctid
            FROM stet.leases l
           WHERE l.lease_until <= at
             AND NOT EXISTS (SELECT FROM stet.operations o
                              WHERE o.scope = l.scope AND o.key = l.key AND o.nonce = l.nonce
                                AND o.attempt = l.attempt AND o.state IN (0, 2))
           LIMIT limit_rows
             FOR UPDATE SKIP LOCKED) s;
  -- The rows are held: what is read now cannot change under them.
  DELETE FROM stet.leases l
   WHERE l.ctid = ANY (found_at)
     AND NOT EXISTS (SELECT FROM stet.operations o
                      WHERE o.scope = l.scope AND o.key = l.key AND o.nonce = l.nonce
                        AND o.attempt = l.attempt AND o.state IN (0, 2));
  RETURN coalesce(cardinality(found_at), 0);
END
$$;
