// The tables, and how they come into a database of yours.

#include "stet/sqlite/session.hpp"
#include "stores/sqlite/session/sql_trouble.hpp"

namespace stet::sqlite {
namespace {

constexpr std::string_view kSchema = R"sql(-- Stet's tables in a database of yours (SQLite 3.38 or later). Can be run again and again.

CREATE TABLE IF NOT EXISTS stet_schema (
  version  INTEGER NOT NULL,
  swept_to INTEGER NOT NULL DEFAULT 0  -- the last row of stet_operations that is in stet_due, or needs not be
) STRICT;
INSERT INTO stet_schema (version) SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM stet_schema);

-- One row for each key. The unique index is what excludes the second execution.
CREATE TABLE IF NOT EXISTS stet_operations (
  id             INTEGER PRIMARY KEY,                -- the order of the first claims
  operation      BLOB NOT NULL UNIQUE,               -- the first 16 bytes of SHA-256 over scope and key
  scope          BLOB NOT NULL,
  key            BLOB NOT NULL,
  nonce          BLOB NOT NULL,                      -- of the present owner
  attempt        INTEGER NOT NULL,
  state          INTEGER NOT NULL,                   -- 0 pending, 1 completed, 2 unknown, 3 expired
  maybe_executed INTEGER NOT NULL,
  fingerprint    BLOB NOT NULL,
  recipe         BLOB NOT NULL,
  method         BLOB NOT NULL,
  path           BLOB NOT NULL,
  scope_rule     BLOB NOT NULL,
  on_unknown     INTEGER NOT NULL,                   -- 0 fail, 1 retry, 2 ask, 3 joined
  retention_ms   INTEGER,                            -- NULL: forever
  tombstone_ms   INTEGER,                            -- NULL: forever
  recovery_point BLOB NOT NULL,
  lease_boot     BLOB,                               -- pending: which boot lease_ms counts from; NULL: never leased
  lease_ms       INTEGER,                            -- on the machine's monotonic clock
  status         INTEGER,                            -- the answer, when completed
  headers        BLOB,
  body           BLOB,
  kept           INTEGER,                            -- 0 whole, 1 head only
  created_ms     INTEGER NOT NULL,                   -- since 1970, UTC
  expires_ms     INTEGER                             -- completed: end of the retention; expired: of the tombstone
) STRICT;
-- A claim that is completed in its own transaction has no lease, and never comes here.
CREATE INDEX IF NOT EXISTS stet_operations_pending ON stet_operations (id) WHERE state = 0 AND lease_boot IS NOT NULL;

-- When to look at a row again. Filled by the sweep, so that no transaction of yours has to write an index page for it.
CREATE TABLE IF NOT EXISTS stet_due (
  at_ms INTEGER NOT NULL,
  id    INTEGER NOT NULL,
  PRIMARY KEY (at_ms, id)
) STRICT, WITHOUT ROWID;

-- Messages of committed transactions, in the order of their commits (SQLite has one writer).
CREATE TABLE IF NOT EXISTS stet_outbox (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  id          BLOB NOT NULL UNIQUE,                  -- a UUID, by which receivers drop repeats
  topic       TEXT NOT NULL,
  payload     BLOB NOT NULL,
  order_key   TEXT,
  headers     TEXT NOT NULL,                         -- JSON: [["name", "value"], …]
  created_ms  INTEGER NOT NULL,
  attempts    INTEGER NOT NULL DEFAULT 0,            -- this and the rest: for whatever delivers them
  next_ms     INTEGER NOT NULL,
  lease_token BLOB,
  lease_ms    INTEGER,
  dead_ms     INTEGER
) STRICT;

-- Events received, by their own ids.
CREATE TABLE IF NOT EXISTS stet_inbox (
  source      BLOB NOT NULL,
  event_id    BLOB NOT NULL,
  received_ms INTEGER NOT NULL,
  PRIMARY KEY (source, event_id)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::int64_t kVersion = 1;

}  // namespace

std::string_view schema() {
  return kSchema;
}

void apply_schema(sqlite3* handle) {
  stores::sqlite::Database database(handle);
  const bool alone = !database.in_transaction();
  try {
    if (alone) database.run("BEGIN IMMEDIATE");
    database.run(std::string(kSchema));
    if (database.integer("SELECT max(version) FROM stet_schema") > kVersion) {
      throw StoreError(StoreFailure::incompatible, "Stet's tables in this database are of a newer version");
    }
    if (alone) database.run("COMMIT");
  } catch (const stores::sqlite::SqlError& error) {
    if (alone && database.in_transaction()) sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
    throw stores::sqlite::trouble(error);
  } catch (...) {
    if (alone && database.in_transaction()) sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

}  // namespace stet::sqlite
