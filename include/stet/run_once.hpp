#pragma once
// The whole of it where your service owns the transaction: claim, work and answer in one commit.
//
//   begin;                                             // yours
//   auto result = stet::run_once(session, intent, {}, [&](const stet::Token&) {
//     …your statements, on the same connection…
//     return stet::Answer{201, {}, "{\"id\":42}"};
//   });
//   if (result.then() == stet::Then::commit) commit; else roll back;
//   show result.shown;                                 // only after the commit has succeeded
//
// The transaction is yours to begin and to end, and not the work's: what the work commits by itself has
// happened without an answer, and instead of running it again the key then says outcome_unknown, for ever.
//
// Nothing is recorded when the work throws (the exception passes through) or declines: roll back, and a retry
// runs. A commit that fails or whose reply is lost needs no thought either: whoever sends the same key again
// gets the answer if it was committed, and runs the work if it was not.

#include <functional>
#include <optional>
#include <string_view>

#include "stet/exchange.hpp"
#include "stet/session.hpp"

namespace stet {

// For intents that are not HTTP requests: of the bytes that make one intent the same as another.
Fingerprint fingerprint_of(std::string_view bytes);

struct RunOptions {
  milliseconds retention = std::chrono::hours(24);  // from completion; kForever allowed
  milliseconds tombstone = std::chrono::hours(24);  // after that the key stays excluded so long
  // What the work's status means. `record` is kept and replayed; with `release` the work says that it did
  // nothing, and its rows are rolled back. Inside one transaction nothing is ever unknown, so 408, 502, 503
  // and 504 release, too, and so does every status that a table of yours calls `unknown`.
  StatusTable statuses = transaction_statuses();
  // Makes the fingerprint of the same intent by another recipe (a record of an earlier version of your
  // service); nothing: cannot be followed. Empty: none can.
  std::function<std::optional<Fingerprint>(const Recipe&)> refingerprint{};

  static StatusTable transaction_statuses();
};

// Your work, on the connection and in the transaction of the session. Called at most once. std::nullopt
// declines without an answer.
using Work = std::function<std::optional<Answer>(const Token&)>;

enum class Ending : std::uint8_t {
  ran,       // the work ran, and its answer is recorded; true once you have committed
  replayed,  // an earlier attempt's answer; the work did not run
  declined,  // the work said that it did nothing: with its answer in `shown`, or with none (status 0)
  refused,  // the work did not run, for the reason `shown.problem`: in_progress, key_reused, outcome_unknown,
            // key_expired, answer_not_kept, store_corrupt, store_unavailable
};
enum class Then : std::uint8_t { commit, roll_back };

struct RunResult {
  Ending ending = Ending::refused;
  Shown shown{};  // what to tell the caller; http/idempotent.hpp makes HTTP of it

  Then then() const { return ending == Ending::ran ? Then::commit : Then::roll_back; }
};

// In the transaction that is open on the session. Throws StoreError (roll back), and what the work throws.
// std::logic_error: phases have begun this operation, or the work has completed it by itself.
// std::invalid_argument: the status of the work's answer is not one of 100 to 599.
RunResult run_once(Session&, const Intent&, const RunOptions&, const Work&);

}  // namespace stet
