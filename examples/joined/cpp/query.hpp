// One statement on libpq: its parameters and its first row, both as text.
#pragma once

#include <libpq-fe.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

/// A thread's own connection, made anew after it was lost.
inline PGconn* connection() {
  thread_local PGconn* mine = PQconnectdb(std::getenv("DATABASE_URL"));
  if (PQstatus(mine) != CONNECTION_OK) PQreset(mine);
  return mine;
}

inline std::vector<std::string> query(const char* sql, const std::vector<std::string>& parameters = {}) {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  PGresult* result = PQexecParams(connection(), sql, static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0);
  std::vector<std::string> row;
  for (int i = 0; PQntuples(result) > 0 && i < PQnfields(result); ++i) row.emplace_back(PQgetvalue(result, 0, i));
  const ExecStatusType status = PQresultStatus(result);
  const std::string why = PQresultErrorMessage(result);
  PQclear(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) throw std::runtime_error(why);
  return row;
}

/// Rolled back unless it was committed.
class Transaction {
public:
  Transaction() { query("BEGIN"); }
  ~Transaction() {
    if (!committed_) PQclear(PQexec(connection(), "ROLLBACK"));
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    query("COMMIT");
    committed_ = true;
  }

private:
  bool committed_ = false;
};
