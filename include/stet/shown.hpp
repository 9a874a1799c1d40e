#pragma once
// What a caller is shown, before it has become HTTP.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stet/record.hpp"

namespace stet {

// The problem types of http.md, in the order of its table.
enum class Problem : std::uint8_t {
  key_missing,
  key_invalid,
  scope_undefined,
  bad_request,
  credentials_invalid,
  in_progress,
  answer_not_kept,
  key_expired,
  body_too_large,
  key_reused,
  store_corrupt,
  outcome_unknown,
  upstream_unreachable,
  store_unavailable,
  auth_unavailable,
  overloaded,
  still_running,
};
std::string_view name(Problem);  // "key-missing"

// The word in `Stet-Outcome`: what is true of the operation under this key by the upstream's own ledger.
enum class Outcome : std::uint8_t { completed, replayed, in_progress, not_executed, unknown, unprotected };
std::string_view name(Outcome);  // "in-progress"

enum class ShownKind : std::uint8_t {
  answer,  // the upstream's, of this very attempt
  stream,  // the same, but larger than the route keeps: passed on as it arrives
  replay,  // a stored answer
  problem,
  accepted,  // 202 with the status location
};

struct Shown {
  ShownKind kind = ShownKind::problem;
  Outcome outcome = Outcome::unknown;
  std::optional<OperationId> id;
  Answer answer;  // answer, stream (head only) and replay
  std::optional<WallTime> replayable_until;
  Problem problem = Problem::outcome_unknown;
  std::string detail;         // one sentence for people; of other callers' data, nothing
  bool retryable = false;     // the same request with the same key again is safe and can help
  bool new_key_safe = false;  // the same intent under a new key carries no risk of a second effect
  std::optional<milliseconds> retry_after;
  std::optional<int> upstream_status;            // outcome-unknown
  std::optional<int> original_status;            // answer-not-kept
  std::optional<std::string> original_location;  // answer-not-kept
};

// A problem with what the table of http.md says about it.
Shown problem(Problem, Outcome, std::string detail);

// The word for a record that another fingerprint met (http.md: "the record's own state").
Outcome outcome_of(State);

// A stored answer, or answer-not-kept where its body was too large.
Shown replay(const Answer&, std::optional<WallTime> expires_at);

// 502 outcome-unknown, with what the record's policy lets the caller do.
Shown outcome_unknown(OnUnknown, std::optional<int> upstream_status);

// What a record says to a caller who may see it: the status location, and an owner who was fenced.
Shown present(const Record&);

}  // namespace stet
