#pragma once
// One statement on a connection, whoever owns that.

#include <libpq-fe.h>

#include <chrono>
#include <memory>
#include <optional>

#include "stores/postgres/arrays.hpp"
#include "stores/postgres/failure.hpp"

namespace stet::stores::postgres {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ClearResult>;

using Deadline = std::chrono::steady_clock::time_point;

// Runs the statement with an unnamed plan (so that a pooler in transaction mode may stand between) and gives
// its rows, in binary. Throws PgError. `sql` without parameters may be several statements; the last one's
// rows are given then, as text.
//
// With a deadline the connection must be non-blocking. When the time is up the statement is not cancelled, as
// a write may be past the point where that would undo it (and a cancelled wait for a standby is reported as
// success): the error says that the connection is gone, and the outcome is unknown.
ResultPtr run(PGconn* connection, const char* sql, Parameters& parameters, std::optional<Deadline> deadline);
ResultPtr run(PGconn* connection, const char* sql, std::optional<Deadline> deadline);

}  // namespace stet::stores::postgres
