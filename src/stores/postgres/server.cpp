#include "stores/postgres/server.hpp"

#include <charconv>

#include "stores/postgres/schema.hpp"

namespace stet::stores::postgres {
namespace {

constexpr int kOldest = 150000;
constexpr std::chrono::seconds kSchemaTime{60};

constexpr const char* kInspect =
    "SELECT current_setting('server_version_num') AS version, pg_is_in_recovery() AS standby,"
    " current_setting('synchronous_commit') AS commits, current_setting('fsync') AS fsync,"
    " current_setting('server_encoding') AS encoding, to_regnamespace('stet') IS NOT NULL AS schema,"
    " has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') AS may_ask,"
    " current_setting('transaction_isolation') AS isolation, pg_backend_pid() AS pid";
constexpr const char* kTimeline =
    "SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int AS timeline";
constexpr const char* kSystem = "SELECT system_identifier::text AS system FROM pg_control_system()";
constexpr const char* kVersion = "SELECT value AS version FROM stet.meta WHERE name = 'schema_version'";
// The functions that the gateway calls, as far as this role may not.
constexpr const char* kForbidden =
    "SELECT string_agg(proname, ', ') AS names FROM pg_proc WHERE pronamespace = 'stet'::regnamespace"
    " AND proname IN ('execute', 'run_claims', 'run_completes', 'sweep', 'find', 'list', 'now_ms')"
    " AND NOT (has_schema_privilege('stet', 'USAGE') AND has_function_privilege(oid, 'EXECUTE'))";

constexpr std::string_view kGrant =
    "; connect as the role that applied the schema, or let that role say: GRANT USAGE ON SCHEMA stet TO …; "
    "GRANT EXECUTE ON ALL "
    "FUNCTIONS IN SCHEMA stet TO …; GRANT SELECT ON stet.meta TO …";

[[noreturn]] void refuse(const std::string& why) {
  throw StoreError(StoreFailure::incompatible, "PostgreSQL: " + why);
}

std::string text(const ResultPtr& result, const char* column) {
  const int at = PQfnumber(result.get(), column);
  if (at < 0 || PQntuples(result.get()) == 0) return {};
  return PQgetvalue(result.get(), 0, at);
}

bool yes(const ResultPtr& result, const char* column) {
  return text(result, column) == "t";
}

std::int64_t number(const std::string& digits) {
  std::int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// A server that does not tell (some managed ones keep their log to themselves) is taken as it is.
std::string asked(Connection& connection, const char* sql, const char* column) {
  try {
    return text(connection.run(sql), column);
  } catch (const PgError& error) {
    if (error.connection() != PgError::Connection::usable) throw;
    return {};
  }
}

Identity identity(Connection& connection, bool may_ask) {
  Identity identity;
  identity.timeline = number(asked(connection, kTimeline, "timeline"));
  if (may_ask) identity.system = asked(connection, kSystem, "system");
  if (identity.system && identity.system->empty()) identity.system.reset();
  return identity;
}

void check_version(Connection& connection) {
  std::string version;
  try {
    version = text(connection.run(kVersion), "version");
  } catch (const PgError& error) {
    if (error.sqlstate() == kUndefinedTable) {
      refuse("there is a schema stet that is not Stet's; use another database, or rename that schema");
    }
    if (error.sqlstate() == kInsufficientPrivilege) {
      refuse("this role may not use the schema stet" + std::string(kGrant));
    }
    throw;
  }
  const std::int64_t found = number(version);
  if (found == kSchemaVersion) return;
  const std::string its = "the schema stet has version " + (version.empty() ? std::string("none") : version) +
                          ", this binary works with " + std::to_string(kSchemaVersion);
  refuse(its + (found < kSchemaVersion ? "; run: stet schema apply --store URL" : "; use a newer stet"));
}

void check_rights(Connection& connection) {
  const std::string names = text(connection.run(kForbidden), "names");
  if (names.empty()) return;
  refuse("this role may not execute stet." + names + std::string(kGrant));
}

bool is_there_already(std::string_view sqlstate) {
  return sqlstate == "42P06" || sqlstate == "42P07" || sqlstate == "42723" || sqlstate == "23505";
}

void create(Connection& connection) {
  // Two gateways may start on an empty database at once; whoever comes second finds everything there.
  const std::string sql =
      "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('stet schema', 0)); " + schema_sql() + "; COMMIT";
  try {
    connection.run(sql.c_str(), kSchemaTime);
  } catch (const PgError& error) {
    if (error.connection() == PgError::Connection::usable) connection.run("ROLLBACK");
    if (is_there_already(error.sqlstate())) return;
    if (error.sqlstate() == kInsufficientPrivilege) {
      refuse(
          "this role may not create the schema stet in this database; let its owner run: stet schema apply "
          "--store URL");
    }
    throw;
  }
}

// A batch is one transaction, which has to see what others commit while it runs. What is set through a pooler would
// meet its other clients.
void read_committed(Connection& connection, const std::string& isolation, Server::Way way) {
  if (isolation == "read committed") return;
  if (way == Server::Way::direct) {
    connection.run("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED");
    return;
  }
  refuse("default_transaction_isolation is " + isolation +
         " for this role and database, behind a pooler; run ALTER ROLE … SET default_transaction_isolation = "
         "'read committed'");
}

}  // namespace

Server inspect(Connection& connection, Durability durability) {
  const ResultPtr said = connection.run(kInspect);
  const std::int64_t version = number(text(said, "version"));
  if (version < kOldest) {
    refuse("version " + std::to_string(version / 10000) + " is too old; 15 or later was meant");
  }
  if (yes(said, "standby")) {
    refuse(
        "this server is a standby, which takes no writes; name the primary, or several hosts with "
        "target_session_attrs=read-write");
  }
  const std::string encoding = text(said, "encoding");
  if (encoding != "UTF8" && encoding != "SQL_ASCII") {
    refuse("the database's encoding is " + encoding +
           "; one with UTF8 was meant: CREATE DATABASE … ENCODING 'UTF8' "
           "TEMPLATE template0");
  }
  if (text(said, "commits") == "off" && durability == Durability::full) {
    refuse(
        "synchronous_commit is off for this role and database, so that a crash loses acknowledged answers; "
        "run ALTER ROLE … "
        "SET synchronous_commit = on, or say store_options.durability = \"os\" on purpose");
  }
  Server server;
  if (number(text(said, "pid")) != PQbackendPID(connection.get())) server.way = Server::Way::through_a_pooler;
  read_committed(connection, text(said, "isolation"), server.way);
  server.schema = yes(said, "schema") ? Schema::present : Schema::missing;
  server.identity = identity(connection, yes(said, "may_ask"));
  if (text(said, "fsync") == "off")
    server.warning = "fsync is off on this PostgreSQL: a power loss may take the whole database";
  return server;
}

void prepare_schema(Connection& connection, Schema found) {
  if (found == Schema::missing) create(connection);
  check_version(connection);
  check_rights(connection);
}

}  // namespace stet::stores::postgres
