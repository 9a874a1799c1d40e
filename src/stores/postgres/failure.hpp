#pragma once
// What PostgreSQL's errors mean for the commands they met.

#include <libpq-fe.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "stet/error.hpp"

namespace stet::stores::postgres {

// A statement that failed. `sqlstate` is empty when the server said nothing: the connection was lost, or the
// time was up.
class PgError : public StoreError {
 public:
  enum class Connection : std::uint8_t { usable, gone, silent };  // silent: gone, as the time was up
  PgError(StoreFailure kind, const std::string& what, std::string sqlstate, Connection connection)
      : StoreError(kind, what), sqlstate_(std::move(sqlstate)), connection_(connection) {}

  const std::string& sqlstate() const { return sqlstate_; }
  Connection connection() const { return connection_; }

 private:
  std::string sqlstate_;
  Connection connection_;
};

// From an error that the server sent. Severity ERROR in autocommit means that the transaction was rolled
// back, so nothing was written; FATAL and PANIC may come between the commit and its acknowledgement.
PgError error_of(const PGresult* result);

// Transactions that met each other; the same statement has every chance a moment later.
bool is_worth_repeating(std::string_view sqlstate);

inline constexpr std::string_view kUndefinedTable = "42P01";
inline constexpr std::string_view kInsufficientPrivilege = "42501";
inline constexpr std::string_view kReadOnly = "25006";

}  // namespace stet::stores::postgres
