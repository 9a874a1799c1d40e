-- One slice of the sweep: at most `limit_rows` operations; several gateways share the work, as each passes over
-- what another one holds. `more`: another slice would find something now.
--
-- An operation is looked at when its `sweep_at` has come. One that is still open can end no earlier than now plus
-- its retention, so it is looked at again then. One that ends within minutes is left at the head of the queue:
-- writing to it twice would cost more than reading it again.
CREATE FUNCTION stet.sweep(limit_rows integer, OUT expired integer, OUT removed integer, OUT more boolean)
LANGUAGE plpgsql SECURITY DEFINER
SET enable_sort = off
AS $$
DECLARE
  at     timestamptz := stet.clock();
  scopes bytea[];
  places tid[];
  fates  text[];         -- tombstone, gone, or later
  nexts  timestamptz[];
  stale  integer;
BEGIN
  SELECT array_agg(due.scope), array_agg(due.place), array_agg(due.fate),
         array_agg(CASE WHEN due.fate = 'tombstone' THEN stet.after(at, due.tombstone_ms)
                        WHEN due.state IN (1, 3) THEN due.expires_at
                        ELSE stet.after(at, greatest(due.retention_ms, 3600000)) END),
         count(*) FILTER (WHERE due.fate <> 'later' AND due.state = 1),
         count(*) FILTER (WHERE due.fate <> 'later' AND due.state = 3)
    INTO scopes, places, fates, nexts, expired, removed
    FROM (SELECT o.ctid AS place, o.scope, o.state, o.expires_at, o.retention_ms, o.tombstone_ms,
                 CASE WHEN o.state NOT IN (1, 3) OR o.expires_at IS NULL OR o.expires_at > at THEN 'later'
                      WHEN o.state = 1 AND (o.tombstone_ms IS NULL OR o.tombstone_ms > 0) THEN 'tombstone'
                      ELSE 'gone' END AS fate
            FROM stet.operations o
           WHERE o.sweep_at <= at
             AND (o.state IN (0, 2) OR o.expires_at IS NULL OR o.expires_at <= at
                  OR o.expires_at > at + interval '10 minutes')
           ORDER BY o.sweep_at
           LIMIT limit_rows
             FOR UPDATE SKIP LOCKED) due;

  UPDATE stet.operations o
     SET state = 3, status = NULL, headers = NULL, raw_headers = NULL, body = NULL, fingerprint = '', recipe = '',
         recovery_point = '', expires_at = due.next, sweep_at = coalesce(due.next, 'infinity')
    FROM unnest(scopes, places, fates, nexts) AS due (scope, place, fate, next)
   WHERE due.fate = 'tombstone' AND o.ctid = due.place AND o.scope = due.scope;
  UPDATE stet.operations o SET sweep_at = coalesce(due.next, 'infinity')
    FROM unnest(scopes, places, fates, nexts) AS due (scope, place, fate, next)
   WHERE due.fate = 'later' AND o.ctid = due.place AND o.scope = due.scope;
  DELETE FROM stet.operations o
   USING unnest(scopes, places, fates) AS due (scope, place, fate)
   WHERE due.fate = 'gone' AND o.ctid = due.place AND o.scope = due.scope;

  stale := stet.sweep_leases(least(limit_rows, 1000), at);
  more := limit_rows > 0 AND (coalesce(cardinality(places), 0) = limit_rows OR stale = least(limit_rows, 1000));
END
$$;

-- Leases whose operation has moved on: a service completed it in its own transaction. Where there is no operation any
-- more, the next claim writes to the lease that was left; should this transaction stay open, that claim must find its
-- lock taken and not wait for the row. (So there are at most a thousand: locks are scarce.)
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
                                AND o.attempt = l.attempt AND o.state IN (0, 2) OFFSET 0)
             AND (EXISTS (SELECT FROM stet.operations o WHERE o.scope = l.scope AND o.key = l.key OFFSET 0)
                  OR pg_try_advisory_xact_lock(stet.lock_number(stet.operation_id(l.scope, l.key))))
           LIMIT limit_rows
             FOR UPDATE SKIP LOCKED) s;
  -- The rows are held: what is read now cannot change under them.
  DELETE FROM stet.leases l
   WHERE l.ctid = ANY (found_at)
     AND NOT EXISTS (SELECT FROM stet.operations o
                      WHERE o.scope = l.scope AND o.key = l.key AND o.nonce = l.nonce
                        AND o.attempt = l.attempt AND o.state IN (0, 2) OFFSET 0);
  RETURN coalesce(cardinality(found_at), 0);
END
$$;
