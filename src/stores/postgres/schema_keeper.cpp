#include "stores/postgres/schema_keeper.hpp"

#include <charconv>
#include <regex>
#include <set>

#include "stores/postgres/connection.hpp"

namespace stet::stores::postgres {
namespace {

constexpr std::chrono::seconds kTime{60};

// Everything that has a name in the schema, as kind and name.
constexpr const char* kObjects =
    "SELECT CASE relkind WHEN 'i' THEN 'INDEX' WHEN 'I' THEN 'INDEX' ELSE 'TABLE' END || ' ' || relname AS object FROM pg_class"
    " WHERE relnamespace = to_regnamespace('stet') AND relkind IN ('r', 'p', 'i', 'I')"
    " UNION SELECT 'TYPE ' || typname FROM pg_type WHERE typnamespace = to_regnamespace('stet')"
    " UNION SELECT 'FUNCTION ' || proname FROM pg_proc WHERE pronamespace = to_regnamespace('stet')";
constexpr const char* kPresent = "SELECT to_regnamespace('stet') IS NOT NULL AS present, to_regclass('stet.meta') IS NOT NULL AS ours";
constexpr const char* kVersion = "SELECT value FROM stet.meta WHERE name = 'schema_version'";
constexpr const char* kGranted =
    "SELECT (has_schema_privilege($1, 'stet', 'USAGE') AND bool_and(has_function_privilege($1, oid, 'EXECUTE')))::text AS granted"
    " FROM pg_proc WHERE pronamespace = 'stet'::regnamespace AND proname IN ('claim', 'complete', 'claims_as_app', 'claim_as_app', 'completes_as_app', 'complete_as_app', 'execute_as_app')";
constexpr const char* kPartitions =
    "SELECT count(*) AS partitions, (SELECT value FROM stet.meta WHERE name = 'partitions') AS wanted"
    " FROM pg_inherits WHERE inhparent = to_regclass('stet.operations')";

// Of the one row and column.
std::string value(const ResultPtr& result, int column = 0) {
  return PQntuples(result.get()) == 0 ? std::string() : std::string(PQgetvalue(result.get(), 0, column));
}

int number(const std::string& digits) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

[[noreturn]] void refuse(const std::string& why) {
  throw StoreError(StoreFailure::incompatible, "PostgreSQL: " + why);
}

std::optional<int> version(Connection& connection) {
  const ResultPtr present = connection.run(kPresent);
  if (value(present, 0) != "t") return std::nullopt;
  if (value(present, 1) != "t") refuse("there is a schema stet that is not Stet's; use another database, or rename that schema");
  return number(value(connection.run(kVersion)));
}

// What the schema's own text creates: there is no second list to be kept.
std::set<std::string> wanted_objects() {
  static const std::regex creates("(?:^|\n)CREATE (TABLE|INDEX|TYPE|FUNCTION) (?:stet\\.)?(\\w+)");
  const std::string sql = schema_sql();
  std::set<std::string> objects;
  for (auto at = std::sregex_iterator(sql.begin(), sql.end(), creates); at != std::sregex_iterator(); ++at) {
    objects.insert((*at)[1].str() + " " + (*at)[2].str());
  }
  return objects;
}

std::string shown(const std::string& object) {
  const std::size_t space = object.find(' ');
  std::string kind = object.substr(0, space);
  for (char& letter : kind) letter = static_cast<char>(letter - 'A' + 'a');
  return kind + " stet." + object.substr(space + 1);
}

void bring(Connection& connection, const std::string& sql, const SchemaOptions& options) {
  try {
    connection.run(sql.c_str(), kTime);
  } catch (const PgError& error) {
    if (error.sqlstate() == kInsufficientPrivilege) {
      refuse("this role may not do that in this database; connect as the owner of the database, or of the schema stet");
    }
    if (error.sqlstate() == "42704" && !options.app_role.empty()) {
      refuse("there is no role " + options.app_role + "; create it first: CREATE ROLE " + options.app_role + " LOGIN");
    }
    throw;
  }
}

// Who may call a function and not hand that on gives nothing away, and PostgreSQL only warns.
void check_granted(Connection& connection, const std::string& role) {
  Parameters parameters;
  parameters.add_text(role);
  if (value(connection.run(kGranted, parameters)) == "true") return;
  refuse("this role may not give the rights of an application to another; connect as the owner of the schema stet");
}

}  // namespace

SchemaStatus schema_status(const std::string& url) {
  Connection connection = Connection::open(url, kTime);
  SchemaStatus status;
  status.version = version(connection);
  if (!status.version) return status;
  const ResultPtr partitions = connection.run(kPartitions);
  status.partitions = number(value(partitions));
  std::set<std::string> wanted = wanted_objects();
  const ResultPtr objects = connection.run(kObjects);
  for (int row = 0; row < PQntuples(objects.get()); ++row) wanted.erase(PQgetvalue(objects.get(), row, 0));
  for (const std::string& object : wanted) status.missing.push_back(shown(object));
  if (const int lacking = number(value(partitions, 1)) - status.partitions; lacking > 0) {
    status.missing.push_back(std::to_string(lacking) + " partitions of table stet.operations");
  }
  return status;
}

Applied apply_schema(const std::string& url, const SchemaOptions& options) {
  Connection connection = Connection::open(url, kTime);
  // Gateways that start on an empty database at this moment take the same lock. An error ends the connection with the
  // transaction.
  connection.run("BEGIN");
  connection.run("SELECT pg_advisory_xact_lock(hashtextextended('stet schema', 0))", kTime);
  const std::optional<int> found = version(connection);
  if (found && *found != kSchemaVersion) {
    refuse("the schema stet has version " + std::to_string(*found) + ", this binary works with " + std::to_string(kSchemaVersion) +
           "; use a newer stet");
  }
  if (!found) {
    bring(connection, schema_sql(options), options);
  } else if (!options.app_role.empty()) {
    bring(connection, app_role_sql(options.app_role), options);
  }
  if (!options.app_role.empty()) check_granted(connection, options.app_role);
  connection.run("COMMIT", kTime);
  return found ? Applied::present : Applied::created;
}

}  // namespace stet::stores::postgres
