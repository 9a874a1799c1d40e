-- Outbox and inbox.

-- The id grows with time (UUID version 7), so that the index grows at its end.
CREATE FUNCTION stet.emit(
  topic text, payload bytea, order_key text DEFAULT NULL, headers jsonb DEFAULT '[]')
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
  at timestamptz := stet.clock();
  id uuid := encode(
    set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING substr(int8send(stet.milliseconds(at)), 3) FROM 1),
                    52, 1), 53, 1), 'hex')::uuid;
BEGIN
  IF topic IS NULL OR payload IS NULL THEN
    RAISE 'stet.emit: topic and payload must not be null' USING ERRCODE = '22023';
  END IF;
  headers := coalesce(headers, '[]');
  PERFORM stet.check_headers(headers);
  INSERT INTO stet.outbox (id, topic, order_key, payload, headers, created_at, txid, next_at)
    VALUES (id, topic, order_key, payload, headers, at, pg_current_xact_id(), at);
  RETURN id;
END
$$;

COMMENT ON FUNCTION stet.emit IS
'Puts a message into the outbox; it exists when the transaction commits. Returns its id, with which every delivery comes. Messages with one order_key are delivered in the order of their commits.
SQLSTATEs: 22023 bad argument.';

CREATE FUNCTION stet.receive(source text, event_id text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
  IF source IS NULL OR event_id IS NULL THEN
    RAISE 'stet.receive: source and event_id must not be null' USING ERRCODE = '22023';
  END IF;
  INSERT INTO stet.inbox AS i (source, event_id, received_at) VALUES (source, event_id, stet.clock())
    ON CONFLICT DO NOTHING;
  RETURN FOUND;
END
$$;

COMMENT ON FUNCTION stet.receive IS
'True the first time: do the work in the same transaction. False when the event was received before. Waits for another transaction that is receiving the same event.
SQLSTATEs: 22023 bad argument; 40001 under REPEATABLE READ when another transaction received it first.';
