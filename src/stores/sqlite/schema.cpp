#include "stores/sqlite/schema.hpp"

#include <string>
#include <string_view>

#include "stet/error.hpp"

namespace stet::stores::sqlite {
namespace {

// Rows are appended in the order of the first claims and change while they are young, or in that same order
// when they are swept: no page is dirtied for the sake of one random key. Uniqueness is kept in memory
// (key_index.hpp).
//
// state: 0 pending, 1 completed, 2 unknown, 3 expired. on_unknown: 0 fail, 1 retry, 2 ask. kept: 0 whole, 1
// head only. Times are milliseconds UTC; a null `expires_ms` never comes. Checksums are the first 16 bytes of
// a SHA-256 (rows.cpp).
constexpr std::string_view kSchema = R"sql(
CREATE TABLE claims (
  row            INTEGER PRIMARY KEY,
  scope          BLOB NOT NULL,
  key            BLOB NOT NULL,
  state          INTEGER NOT NULL,
  nonce          BLOB NOT NULL,
  attempt        INTEGER NOT NULL,
  maybe_executed INTEGER NOT NULL,
  fingerprint    BLOB NOT NULL,
  recipe         BLOB NOT NULL,
  method         BLOB NOT NULL,
  path           BLOB NOT NULL,
  scope_rule     BLOB NOT NULL,
  on_unknown     INTEGER NOT NULL,
  retention_ms   INTEGER NOT NULL,
  tombstone_ms   INTEGER NOT NULL,
  recovery_point BLOB NOT NULL,
  created_ms     INTEGER NOT NULL,
  expires_ms     INTEGER,
  checksum       BLOB NOT NULL
) STRICT;

-- The few operations without an answer, for operators and the reconciler.
CREATE INDEX claims_open ON claims (state) WHERE state IN (0, 2);

CREATE TABLE answers (
  row      INTEGER PRIMARY KEY,
  status   INTEGER NOT NULL,
  kept     INTEGER NOT NULL,
  checksum BLOB NOT NULL,
  headers  BLOB NOT NULL,
  body     BLOB NOT NULL
) STRICT;

-- What the index in memory is rebuilt from: the first 64 bits of the operation's id.
CREATE TABLE keys (
  row   INTEGER PRIMARY KEY,
  tag   INTEGER NOT NULL,
  guard INTEGER NOT NULL
) STRICT;

-- What the sweep looks at next. Every retention in use is one place in which this tree grows.
CREATE TABLE due (
  at_ms INTEGER NOT NULL,
  row   INTEGER NOT NULL,
  PRIMARY KEY (at_ms, row)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
)sql";

}  // namespace

void migrate(Database& database) {
  const std::int64_t application = database.integer("PRAGMA application_id");
  const std::int64_t version = database.integer("PRAGMA user_version");
  const bool empty = database.integer("SELECT count(*) FROM sqlite_master") == 0;
  if (application != kApplicationId && !(empty && application == 0)) {
    throw StoreError(StoreFailure::incompatible, "the file is an SQLite database, but not one of Stet's");
  }
  if (version > kSchemaVersion) {
    throw StoreError(StoreFailure::incompatible, "the file was written by a newer Stet (schema " +
                                                     std::to_string(version) + ", this one knows " +
                                                     std::to_string(kSchemaVersion) + ")");
  }
  if (version == kSchemaVersion) return;
  database.run("BEGIN IMMEDIATE");
  database.run(std::string(kSchema));
  database.run("PRAGMA application_id = " + std::to_string(kApplicationId));
  database.run("PRAGMA user_version = " + std::to_string(kSchemaVersion));
  database.run("COMMIT");
}

}  // namespace stet::stores::sqlite
