#pragma once
// What a record says to a command, and what becomes of it: the table of docs/protocol.md for engines that
// hold the record in hand. Pure: no clock, no I/O. Engines that do it in SQL or Lua are held to the same by
// the conformance suite.

#include <cstdint>
#include <optional>

#include "stet/store.hpp"
#include "stores/clocks.hpp"

namespace stet::stores {

// A record as an engine of one process holds it. `record.lease_until` is not used: the lease is `lease_ends`.
struct Held {
  Record record;
  std::optional<MonoTime> lease_ends;  // pending only; none: over
};

enum class Change : std::uint8_t {
  none,
  lease,  // only `lease_ends`, which is kept in memory
  write,  // the record is new or has changed
  free,   // the record goes
};

struct Transition {
  Result result;
  Change change = Change::none;
  Held after;  // the record as it now is; nothing in it when there is none
};

// `held` is what (scope, key) of the command leads to, with its answer when it is completed (unless a claim
// has another fingerprint). Not for Sweep.
Transition apply(const Command& command, std::optional<Held> held, const Now& now);

// Whose record a command is about.
struct Place {
  std::string_view scope;
  std::string_view key;
};
Place place_of(const Command& command);  // not for Sweep

// What the sweep makes of a record whose `expires_at` has come: expired with a tombstone, or nothing.
std::optional<Record> swept(Record record, WallTime now);

// The record as `find` and `list` show it.
Record shown_record(const Held& held, const Now& now);

// Whether the lease of a pending record is over.
bool lapsed(const Held& held, const Now& now);

// now + span, where forever and whatever leaves the calendar is "never".
std::optional<WallTime> after(WallTime now, milliseconds span);

}  // namespace stet::stores
