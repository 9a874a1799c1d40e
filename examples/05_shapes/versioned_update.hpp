#pragma once
// PATCH /profiles/{id} with If-Match: "7": a change that names the version it was made for.
//
// Use it for edits of something that people share: it also stops two different edits from overwriting each
// other.
//
// Traps
// - SELECT the version, compare, UPDATE: two may compare at once. The comparison belongs into the UPDATE's
//   WHERE.
// - Taking "no row changed" for a conflict. It is also what the copy of a request sees that has succeeded:
//   its own work stands there as version + 1. Whoever answers 412 to it makes the client apply its edit
//   again, to what it already changed.
// - The version made from a clock: two changes in one tick.

#include "../sql/sql.hpp"
#include "outcome.hpp"

namespace shapes {

inline constexpr const char* kProfilesSchema =
    "CREATE TABLE profiles (id TEXT PRIMARY KEY, email TEXT NOT NULL, version BIGINT NOT NULL)";

// `version`: the one that the client has seen. `done` brings the version that the edit made.
inline Outcome change_email(sql::Connection& db, const std::string& id, std::int64_t version,
                            const std::string& email) {
  const auto changed =
      db.run("UPDATE profiles SET email = $3, version = version + 1 WHERE id = $1 AND version = $2", id,
             version, email);
  if (changed.changed == 1) return {Verdict::done, std::to_string(version + 1)};

  const auto there = db.run("SELECT version, email FROM profiles WHERE id = $1", id);
  if (there.empty()) return {Verdict::absent, ""};
  // One step further and just what this request asks for: this is its copy. (If somebody else asked for the
  // same, there is nothing left to do either.)
  if (there.number() == version + 1 && there.rows[0][1] == email)
    return {Verdict::done, std::to_string(version + 1)};
  // Further on than that nothing tells a copy from a stale edit. A client that must know keeps a key.
  return {Verdict::conflict, there.value()};
}

}  // namespace shapes
