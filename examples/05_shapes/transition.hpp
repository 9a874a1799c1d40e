#pragma once
// POST /parcels/{id}/ship: a step of a state machine, which can be taken once.
//
// Use it wherever the business already has states: cancel, approve, ship, close.
//
// Traps
// - Setting the state without naming the one it comes from: a copy that comes late ships what was returned
//   meanwhile.
// - Doing what hangs on the step (points, stock, a message) although no row changed. Only the request that
//   has made the step does them, in the same transaction.
// - Answering 409 to a repeat because the parcel "is not packed any more". It is shipped, which was asked
//   for.
// - Steps that can be taken again (pause, resume, pause): a late copy of the first "pause" would pause again.
//   Such a step needs the version (versioned_update.hpp) or a key.

#include "../sql/sql.hpp"
#include "outcome.hpp"

namespace shapes {

inline constexpr const char* kParcelsSchema =
    "CREATE TABLE parcels (id TEXT PRIMARY KEY, customer TEXT NOT NULL, status TEXT NOT NULL);"
    "CREATE TABLE points (customer TEXT PRIMARY KEY, points BIGINT NOT NULL)";

inline Outcome ship(sql::Connection& db, const std::string& parcel) {
  sql::Transaction transaction(db);
  // Of two at once the second waits for the first one's row, then finds another status and changes nothing.
  const auto shipped = db.run(
      "UPDATE parcels SET status = 'shipped' WHERE id = $1 AND status = 'packed' RETURNING customer", parcel);
  if (!shipped.empty()) {
    db.run("UPDATE points SET points = points + 10 WHERE customer = $1", shipped.value());
    transaction.commit();
    return {Verdict::done, "shipped"};
  }
  const auto there = db.run("SELECT status FROM parcels WHERE id = $1", parcel);
  if (there.empty()) return {Verdict::absent, ""};
  return {there.value() == "shipped" ? Verdict::done : Verdict::conflict, there.value()};
}

}  // namespace shapes
