#pragma once
// POST /trips: a flight from one company and a room from another. No transaction spans them, so what was
// begun and cannot be finished is undone: a saga with compensation.
//
// Where keys stop helping
// - A key makes each step happen at most once. It does not make two steps both happen, or neither: between
//   them everybody sees a flight without a room, and may act on it.
// - It does not undo. Compensation is a step of its own, with a key of its own fate: it may be lost, repeated
//   and cut short like any other, and unlike others it may not fail for good. Somebody must repeat it until
//   it is through.
// - It does not help where nothing can be undone (a letter, a payout). Such a step goes last, when nothing
//   can fail after it. What can be one transaction should be one (compound.hpp).
//
// Traps
// - Undoing only what is known to be done. A step whose answer was lost may have been done: undo every step
//   that was begun, by its key.
// - A copy of a step that comes after its undoing, and does it again. `cancel` must be remembered under the
//   step's key even when there was nothing to cancel; the provider that cannot do that must be asked until it
//   knows.
// - Keys made at random on each run: the run after a crash books a second flight. They derive from the trip's
//   own id.
// - Undoing first, and noting that afterwards: another run, which still sees "flying", books the room
//   meanwhile.

#include "../sql/sql.hpp"
#include "outcome.hpp"

namespace shapes {

inline constexpr const char* kTripsSchema = "CREATE TABLE trips (id TEXT PRIMARY KEY, state TEXT NOT NULL)";

// Another company's service, idempotent by key. Throws when no answer came: then nobody here knows.
class Provider {
 public:
  virtual ~Provider() = default;
  enum class Reply : std::uint8_t { yes, no };
  virtual Reply reserve(const std::string& key) = 0;
  virtual void cancel(const std::string& key) = 0;
};

// Goes on from wherever an earlier run was cut, at once with others or not. To be called again until it
// returns: by the client's retries, or by a loop that looks for trips that are neither booked nor cancelled.
inline Outcome book_trip(sql::Connection& db, const std::string& id, Provider& airline, Provider& hotel) {
  const std::string flight = id + "/flight";
  const std::string room = id + "/room";
  // Only the run that finds the state as it was moves it on; the others look again.
  const auto move_on = [&](const char* from, const char* to) {
    db.run("UPDATE trips SET state = $3 WHERE id = $1 AND state = $2", id, from, to);
  };
  db.run("INSERT INTO trips (id, state) VALUES ($1, 'begun') ON CONFLICT (id) DO NOTHING", id);
  for (;;) {
    const std::string state = db.run("SELECT state FROM trips WHERE id = $1", id).value();
    if (state == "begun") {
      move_on("begun", airline.reserve(flight) == Provider::Reply::yes ? "flying" : "undoing");
    } else if (state == "flying") {
      move_on("flying", hotel.reserve(room) == Provider::Reply::yes ? "booked" : "undoing");
    } else if (state == "undoing") {
      hotel.cancel(room);
      airline.cancel(flight);
      move_on("undoing", "cancelled");
    } else {
      return {state == "booked" ? Verdict::done : Verdict::conflict, state};
    }
  }
}

}  // namespace shapes
