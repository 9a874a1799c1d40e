#include "stet/run_once.hpp"

#include <stdexcept>

#include "core/digest.hpp"
#include "library/drive.hpp"

namespace stet {
namespace {

// Of an attempt that was rolled back nothing is left, and another one runs. So a claim of ours that is found
// pending says that the work has ended the transaction by itself: its rows stand, and to run it again would
// be a second effect.
Policy policy_of(const RunOptions& options) {
  Policy policy = library::policy(OnUnknown::fail, options.retention, options.tombstone);
  policy.statuses = options.statuses;
  for (int status = 100; status <= 599; ++status) {
    if (policy.statuses.meaning(status) == StatusMeaning::unknown)
      policy.statuses.set_status(status, StatusMeaning::release);
  }
  return policy;
}

}  // namespace

Fingerprint fingerprint_of(std::string_view bytes) {
  return {sha256(bytes), "bytes"};
}

StatusTable RunOptions::transaction_statuses() {
  StatusTable statuses;
  for (const int status : {408, 502, 503, 504}) statuses.set_status(status, StatusMeaning::release);
  return statuses;
}

RunResult run_once(Session& session, const Intent& intent, const RunOptions& options, const Work& work) {
  library::Drive drive(session, library::StoreTrouble::passes_through, intent, policy_of(options),
                       options.refingerprint);
  if (const auto granted = drive.claim()) {
    if (!granted->recovery_point.empty()) {
      throw std::logic_error("phases have begun this operation and reached " + granted->recovery_point +
                             ": only phases can go on");
    }
    using Says = upstream::Answered::Says;
    const std::optional<Answer> answer = work(granted->token);
    if (answer) library::must_be_a_status(answer->status);
    drive.settle(upstream::Answered{answer.value_or(Answer{}), answer ? Says::nothing : Says::not_executed});
    // What this transaction itself has completed goes with the roll-back, so it is nobody's answer.
    if (library::ending_of(drive.shown()) == Ending::replayed) {
      throw std::logic_error("the work has completed its own operation");
    }
  }
  return {library::ending_of(drive.shown()), drive.shown()};
}

}  // namespace stet
