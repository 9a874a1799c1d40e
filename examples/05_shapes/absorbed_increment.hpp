#pragma once
// POST /articles/{id}/views: not "one more" but "this one", and the count is how many there are.
//
// Use it for counts and balances: an event with an id of its own is absorbed the second time; `n = n + 1`
// never is.
//
// Traps
// - `SET n = n + 1` for each request: a copy counts again.
// - A counter beside the events, in a second transaction: it drifts at the first crash and nobody can say
//   which is right. Where counting is too slow, keep one in the same transaction, moved only by an insert
//   that inserted.
// - An id made by the server, or on each attempt: then every copy is a new event. The client makes it before
//   the first send.
// - Forgetting the ids before the last copy has come: fold old events into a total only after the longest
//   time for which clients repeat, and refuse what is older.

#include "../sql/sql.hpp"
#include "outcome.hpp"

namespace shapes {

inline constexpr const char* kViewsSchema =
    "CREATE TABLE views (event TEXT PRIMARY KEY, article TEXT NOT NULL);"
    "CREATE INDEX views_by_article ON views (article)";

inline Outcome view(sql::Connection& db, const std::string& event, const std::string& article) {
  db.run("INSERT INTO views (event, article) VALUES ($1, $2) ON CONFLICT (event) DO NOTHING", event, article);
  return {Verdict::done, event};
}

inline std::int64_t views(sql::Connection& db, const std::string& article) {
  return db.run("SELECT count(*) FROM views WHERE article = $1", article).number();
}

}  // namespace shapes
