#include "stet/shown.hpp"

#include <array>

namespace stet {
namespace {

// Whether a second effect is ruled out cannot be read from the type alone where it says `conditional`:
// whoever makes the problem decides (new_key_safe of upstream-unreachable, retryable of outcome-unknown).
struct Row {
  Problem problem;
  std::string_view name;
  bool retryable;
  bool new_key_safe;
};

constexpr std::array<Row, 17> kProblems{{
    {Problem::key_missing, "key-missing", false, true},
    {Problem::key_invalid, "key-invalid", false, true},
    {Problem::scope_undefined, "scope-undefined", false, false},
    {Problem::bad_request, "bad-request", false, false},
    {Problem::credentials_invalid, "credentials-invalid", false, false},
    {Problem::in_progress, "in-progress", true, false},
    {Problem::answer_not_kept, "answer-not-kept", false, false},
    {Problem::key_expired, "key-expired", false, false},
    {Problem::body_too_large, "body-too-large", false, false},
    {Problem::key_reused, "key-reused", false, false},
    {Problem::store_corrupt, "store-corrupt", false, false},
    {Problem::outcome_unknown, "outcome-unknown", false, false},
    {Problem::upstream_unreachable, "upstream-unreachable", true, false},
    {Problem::store_unavailable, "store-unavailable", true, false},
    {Problem::auth_unavailable, "auth-unavailable", true, false},
    {Problem::overloaded, "overloaded", true, false},
    {Problem::still_running, "still-running", true, false},
}};

const Row& row(Problem problem) {
  for (const Row& row : kProblems) {
    if (row.problem == problem) return row;
  }
  return kProblems[0];
}

}  // namespace

std::string_view name(Problem problem) {
  return row(problem).name;
}

std::string_view name(Outcome outcome) {
  switch (outcome) {
    case Outcome::completed:
      return "completed";
    case Outcome::replayed:
      return "replayed";
    case Outcome::in_progress:
      return "in-progress";
    case Outcome::not_executed:
      return "not-executed";
    case Outcome::unknown:
      return "unknown";
    case Outcome::unprotected:
      return "unprotected";
  }
  return "unknown";
}

Shown problem(Problem problem, Outcome outcome, std::string detail) {
  const Row& known = row(problem);
  Shown shown;
  shown.kind = ShownKind::problem;
  shown.problem = problem;
  shown.outcome = outcome;
  shown.detail = std::move(detail);
  shown.retryable = known.retryable;
  shown.new_key_safe = known.new_key_safe;
  return shown;
}

Outcome outcome_of(State state) {
  switch (state) {
    case State::pending:
      return Outcome::in_progress;
    case State::completed:
      return Outcome::completed;
    case State::unknown:
    case State::expired:
      return Outcome::unknown;
  }
  return Outcome::unknown;
}

Shown replay(const Answer& answer, std::optional<WallTime> expires_at) {
  Shown shown;
  if (answer.kept == Kept::whole) {
    shown.kind = ShownKind::replay;
    shown.answer = answer;
  } else {
    shown = problem(Problem::answer_not_kept, Outcome::replayed,
                    "The operation was executed once and answered, but its answer was too large to keep. "
                    "Read its result from the API; do not send it again.");
    shown.original_status = answer.status;
    for (const Header& header : answer.headers) {
      if (header.name.size() == 8 && (header.name == "Location" || header.name == "location")) {
        shown.original_location = header.value;
      }
    }
  }
  shown.outcome = Outcome::replayed;
  shown.replayable_until = expires_at;
  return shown;
}

Shown outcome_unknown(OnUnknown policy, std::optional<int> upstream_status) {
  std::string detail = "The request may have reached the upstream, and whether it was executed is not known.";
  switch (policy) {
    case OnUnknown::fail:
      detail +=
          " It will not be run again under this key. Look the result up in the API, or have an operator "
          "settle it.";
      break;
    case OnUnknown::retry:
      detail += " Sending the same request with the same key again is safe: the upstream drops repeats.";
      break;
    case OnUnknown::ask:
      detail += " Sending the same request with the same key again asks the upstream what became of it.";
      break;
    case OnUnknown::joined:
      detail +=
          " Sending the same request with the same key again gets its answer if it was executed, and runs it "
          "if it was not.";
      break;
  }
  if (upstream_status) {
    const std::string status = std::to_string(*upstream_status);
    detail += " The upstream answered " + status + "; if it never executes what it answers so, release = [" +
              status + "] on this route would say that nothing happened.";
  }
  Shown shown = problem(Problem::outcome_unknown, Outcome::unknown, std::move(detail));
  shown.retryable = policy != OnUnknown::fail;
  shown.upstream_status = upstream_status;
  return shown;
}

Shown present(const Record& record) {
  Shown shown;
  switch (record.state) {
    case State::pending:
      shown.kind = ShownKind::accepted;
      shown.outcome = Outcome::in_progress;
      break;
    case State::completed:
      if (record.answer) {
        shown = replay(*record.answer, record.expires_at);
      } else {
        shown = problem(Problem::store_corrupt, Outcome::unknown, "The stored answer cannot be read.");
      }
      break;
    case State::unknown:  // settled: only an operator, or the owner's own late answer, changes that
      shown = outcome_unknown(OnUnknown::fail, std::nullopt);
      break;
    case State::expired:
      shown = problem(
          Problem::key_expired, Outcome::unknown,
          "This key was used before, and its answer is no longer kept. Sending the intent again could "
          "execute it a second time.");
      break;
  }
  shown.id = record.id();
  return shown;
}

}  // namespace stet
