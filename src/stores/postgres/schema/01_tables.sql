-- The tables of Stet, version 1. Times are the database's own (stet.clock), spans milliseconds, null spans
-- never end.

-- What the functions mean by a name must not depend on who applies this.
SET search_path = pg_catalog, pg_temp;

CREATE SCHEMA stet;

CREATE TABLE stet.meta (
  name  text PRIMARY KEY,
  value text NOT NULL
);
INSERT INTO stet.meta VALUES ('schema_version', '1'), ('partitions', '@partitions@');

-- One row an operation. A claim prunes to one partition by its scope.
--
-- Completing must stay a HOT update (a new version on the same page, no index touched): hence the fill factor,
-- and no index on a column that a completion changes. `sweep_at` is never later than `expires_at`: it is set
-- at the claim, and only a retention that turns out shorter than the claim's moves it at completion.
CREATE TABLE stet.operations (
  scope          bytea NOT NULL,
  key            bytea NOT NULL,
  id             uuid NOT NULL,
  nonce          uuid NOT NULL,
  created_at     timestamptz NOT NULL,
  expires_at     timestamptz,
  sweep_at       timestamptz NOT NULL,
  retention_ms   bigint,
  tombstone_ms   bigint,
  attempt        integer NOT NULL,
  status         integer,
  state          smallint NOT NULL,
  on_unknown     smallint NOT NULL,
  maybe_executed boolean NOT NULL,
  fingerprint    bytea NOT NULL,
  recipe         text NOT NULL,
  method         text NOT NULL,
  path           bytea NOT NULL,
  scope_rule     text NOT NULL,
  recovery_point text NOT NULL,
  headers        jsonb,
  raw_headers    bytea,
  body           bytea,
  PRIMARY KEY (scope, key)
) PARTITION BY HASH (scope);

CREATE INDEX operations_id ON stet.operations (id);
CREATE INDEX operations_created ON stet.operations (created_at);
CREATE INDEX operations_sweep ON stet.operations (sweep_at);

COMMENT ON TABLE stet.operations IS 'One row an operation, by scope and key';
COMMENT ON COLUMN stet.operations.state IS '0 pending, 1 completed, 2 unknown, 3 expired';
COMMENT ON COLUMN stet.operations.on_unknown IS '0 fail, 1 retry, 2 ask, 3 joined';
COMMENT ON COLUMN stet.operations.expires_at IS 'End of the retention (completed) or of the tombstone (expired); null: never';
COMMENT ON COLUMN stet.operations.sweep_at IS 'When the sweep looks at it, never later than expires_at';
COMMENT ON COLUMN stet.operations.raw_headers IS 'Instead of headers, when they are not UTF-8';
COMMENT ON COLUMN stet.operations.body IS 'Null on a completed operation: too large to be kept';

DO $$
BEGIN
  FOR i IN 0 .. @partitions@ - 1 LOOP
    EXECUTE format('CREATE TABLE stet.operations_%s PARTITION OF stet.operations FOR VALUES WITH (MODULUS @partitions@, REMAINDER %s) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05)', i, i);
  END LOOP;
END
$$;

-- One row for each pending or unknown operation. A renewal writes here and not in `operations`, whose row a
-- service's open transaction may have locked by stet.complete; and what is pending is found without an index
-- on the state. A row whose operation has moved on means nothing, and the sweep removes it.
CREATE TABLE stet.leases (
  scope       bytea NOT NULL,
  key         bytea NOT NULL,
  nonce       uuid NOT NULL,
  lease_until timestamptz NOT NULL,
  attempt     integer NOT NULL,
  PRIMARY KEY (scope, key)
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

COMMENT ON TABLE stet.leases IS 'The leases of pending operations';

CREATE TABLE stet.outbox (
  seq         bigint GENERATED ALWAYS AS IDENTITY,
  id          uuid PRIMARY KEY,
  topic       text NOT NULL,
  order_key   text,
  payload     bytea NOT NULL,
  headers     jsonb NOT NULL,
  created_at  timestamptz NOT NULL,
  txid        xid8 NOT NULL,
  attempts    integer NOT NULL DEFAULT 0,
  next_at     timestamptz NOT NULL,
  lease_token uuid,
  lease_until timestamptz,
  dead_at     timestamptz,
  last_error  text
);
CREATE INDEX outbox_order ON stet.outbox (txid, seq);

COMMENT ON TABLE stet.outbox IS 'Messages to be delivered; they exist when the transaction that emitted them commits';
COMMENT ON COLUMN stet.outbox.txid IS 'The transaction: below pg_snapshot_xmin(pg_current_snapshot()) nothing can appear any more';

CREATE TABLE stet.inbox (
  source      text NOT NULL,
  event_id    text NOT NULL,
  received_at timestamptz NOT NULL,
  PRIMARY KEY (source, event_id)
);

COMMENT ON TABLE stet.inbox IS 'Events that were received, by their own ids';
