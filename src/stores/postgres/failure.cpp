#include "stores/postgres/failure.hpp"

#include <algorithm>
#include <array>

namespace stet::stores::postgres {
namespace {

std::string field(const PGresult* result, int code) {
  const char* const text = PQresultErrorField(result, code);
  return text == nullptr ? std::string() : std::string(text);
}

constexpr std::array<std::string_view, 3> kWorthRepeating{
    "40001",  // serialization_failure
    "40P01",  // deadlock_detected
    "55P03",  // lock_not_available
};

StoreFailure kind_of(std::string_view sqlstate) {
  if (sqlstate == "53100") return StoreFailure::full;
  if (sqlstate == "XX001" || sqlstate == "XX002")
    return StoreFailure::corrupt;  // a damaged page, a damaged index
  if (sqlstate == kInsufficientPrivilege || sqlstate == "42883" || sqlstate == kUndefinedTable ||
      sqlstate == "3F000") {
    return StoreFailure::incompatible;
  }
  return StoreFailure::not_written;
}

std::string advice(std::string_view sqlstate) {
  if (sqlstate == kInsufficientPrivilege) {
    return "; give this role the right to execute the functions of the schema stet: stet schema apply, run "
           "by their owner";
  }
  if (sqlstate == "42883" || sqlstate == kUndefinedTable || sqlstate == "3F000") {
    return "; the schema stet is missing or of another version: stet schema apply --store URL";
  }
  return {};
}

}  // namespace

PgError error_of(const PGresult* result) {
  const std::string sqlstate = field(result, PG_DIAG_SQLSTATE);
  const std::string severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  std::string what = field(result, PG_DIAG_MESSAGE_PRIMARY);
  if (what.empty()) {  // made by libpq itself: the connection was lost
    what = PQresultErrorMessage(result);
    while (what.ends_with('\n')) what.pop_back();
  }
  what = "PostgreSQL: " + what;
  const bool certain = severity == "ERROR" && !sqlstate.empty() && !sqlstate.starts_with("08");
  if (!certain) return {StoreFailure::unavailable, what, sqlstate, PgError::Connection::gone};
  const bool elsewhere =
      sqlstate == kReadOnly;  // this server has become a standby: the primary is another one
  return {kind_of(sqlstate), what + " (" + sqlstate + ")" + advice(sqlstate), sqlstate,
          elsewhere ? PgError::Connection::gone : PgError::Connection::usable};
}

bool is_worth_repeating(std::string_view sqlstate) {
  return std::ranges::find(kWorthRepeating, sqlstate) != kWorthRepeating.end();
}

}  // namespace stet::stores::postgres
