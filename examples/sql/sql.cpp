#include "sql.hpp"

namespace sql {

std::unique_ptr<Connection> open(const std::string& url) {
  static constexpr std::string_view sqlite = "sqlite:";
  return url.starts_with(sqlite) ? open_sqlite(url.substr(sqlite.size())) : open_postgres(url);
}

Transaction::Transaction(Connection& connection) : connection_(connection) {
  // Trap: a plain BEGIN of SQLite's takes the write lock at the first write only; if another wrote meanwhile,
  // that fails at once, whatever the time-out says. PostgreSQL: READ COMMITTED, where each statement sees
  // what was committed before it.
  connection_.run(connection.engine() == Engine::sqlite ? "BEGIN IMMEDIATE"
                                                        : "BEGIN ISOLATION LEVEL READ COMMITTED");
}

Transaction::~Transaction() {
  if (state_ == State::over) return;
  try {
    connection_.run("ROLLBACK");
  } catch (const Error&) {
    // The connection is gone, and the transaction with it.
  }
}

void Transaction::commit() {
  connection_.run("COMMIT");
  state_ = State::over;
}

}  // namespace sql
