#pragma once
// POST /holds: takes one from a stock, once for each hold, and never more than there is.
//
// Use it for seats, rooms, vouchers, credit: whatever runs out.
//
// Traps
// - SELECT the stock, compare, UPDATE: two at once both see the last one. The comparison belongs into the
//   UPDATE's WHERE.
// - The decrement alone: a copy takes another one. The row of the hold, whose primary key excludes, comes
//   first.
// - Keeping that row when the stock was empty: the copy of a refused request would be told that it holds
//   something. Both or neither, so roll back.
// - Deleting the row when it is given back: a late copy of the first request would hold again. The row stays
//   and says so.
// - Giving back what is not held. That is a transition (transition.hpp), and only the one that makes it moves
//   the stock.
// - On PostgreSQL `INSERT … SELECT … WHERE (SELECT count(*) …) < 10`: two at once both count nine. Counting
//   locks nothing.

#include "../sql/sql.hpp"
#include "outcome.hpp"

namespace shapes {

inline constexpr const char* kStockSchema =
    "CREATE TABLE stock (item TEXT PRIMARY KEY, available BIGINT NOT NULL CHECK (available >= 0));"
    "CREATE TABLE holds (id TEXT PRIMARY KEY, item TEXT NOT NULL, state TEXT NOT NULL)";

inline Outcome hold(sql::Connection& db, const std::string& id, const std::string& item) {
  sql::Transaction transaction(db);
  // Waits for another copy of this hold that is just being made, and then inserts nothing.
  const auto made = db.run(
      "INSERT INTO holds (id, item, state) VALUES ($1, $2, 'held') ON CONFLICT (id) DO NOTHING", id, item);
  if (made.changed == 0) {
    const auto there = db.run("SELECT item, state FROM holds WHERE id = $1", id);
    const bool same = there.rows.at(0)[0] == item && there.rows[0][1] == "held";
    return {same ? Verdict::done : Verdict::conflict, there.rows[0][1]};
  }
  if (db.run("UPDATE stock SET available = available - 1 WHERE item = $1 AND available > 0", item).changed ==
      0) {
    return {Verdict::conflict, "none left"};  // rolls back: nothing is held
  }
  transaction.commit();
  return {Verdict::done, "held"};
}

inline Outcome give_back(sql::Connection& db, const std::string& id) {
  sql::Transaction transaction(db);
  const auto freed =
      db.run("UPDATE holds SET state = 'given back' WHERE id = $1 AND state = 'held' RETURNING item", id);
  if (!freed.empty()) db.run("UPDATE stock SET available = available + 1 WHERE item = $1", freed.value());
  const auto there = db.run("SELECT state FROM holds WHERE id = $1", id);
  transaction.commit();
  if (there.empty()) return {Verdict::absent, ""};
  return {Verdict::done, there.value()};
}

}  // namespace shapes
