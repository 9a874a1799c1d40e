#pragma once
// POST /transfers: several rows that change together, in one database. One transaction is all it needs.
//
// Use it as long as everything that must happen together can stand in one database; it is worth some effort
// to keep it so.
//
// Traps
// - The row that excludes a copy in another transaction than the money: at a crash between them either a copy
//   moves the money again, or it is told "done" of what was never done.
// - Locking the two accounts in the order of the request: A→B and B→A at once are a deadlock. Always in one
//   order; and the transaction that loses is rolled back, so run it again.
// - A call to another service inside the transaction. It cannot be rolled back, and holds the locks: that is
//   a saga (saga.hpp), or recovery points (the booking service).

#include <algorithm>

#include "../sql/sql.hpp"
#include "outcome.hpp"

namespace shapes {

inline constexpr const char* kAccountsSchema =
    "CREATE TABLE accounts (id TEXT PRIMARY KEY, cents BIGINT NOT NULL CHECK (cents >= 0));"
    "CREATE TABLE transfers (id TEXT PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, cents BIGINT "
    "NOT NULL)";

struct Transfer {
  std::string id;  // made by the client
  std::string source;
  std::string target;
  std::int64_t cents;
};

inline Outcome transfer(sql::Connection& db, const Transfer& asked) {
  sql::Transaction transaction(db);
  const auto made = db.run(
      "INSERT INTO transfers (id, source, target, cents) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING",
      asked.id, asked.source, asked.target, asked.cents);
  if (made.changed == 0) {
    const auto same =
        db.run("SELECT 1 FROM transfers WHERE id = $1 AND source = $2 AND target = $3 AND cents = $4",
               asked.id, asked.source, asked.target, asked.cents);
    return {same.empty() ? Verdict::conflict : Verdict::done, asked.id};
  }
  // In the order of their ids, whoever pays whom.
  for (const std::string& account :
       {std::min(asked.source, asked.target), std::max(asked.source, asked.target)}) {
    const std::int64_t change = account == asked.source ? -asked.cents : asked.cents;
    const auto moved = db.run(
        "UPDATE accounts SET cents = cents + CAST($2 AS BIGINT) WHERE id = $1 AND cents + CAST($2 AS BIGINT) "
        ">= 0",
        account, change);
    if (moved.changed == 0)
      return {Verdict::conflict, account};  // rolls back, the row of the transfer with it
  }
  transaction.commit();
  return {Verdict::done, asked.id};
}

}  // namespace shapes
