#include "stet/phases.hpp"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "library/renewer_thread.hpp"
#include "stet/derive.hpp"

namespace stet {
namespace {

// Phases are fenced and their calls carry derived keys, so another attempt may always run: the record says
// `retry`, which no reconciler of a gateway on the same store touches.
Policy policy_of(const PhaseOptions& options) {
  Policy policy = library::policy(OnUnknown::retry, options.retention, options.tombstone);
  policy.lease = std::min(options.lease, library::kLongest);
  policy.completion_timeout = std::min(options.give_up_after, library::kLongest);
  policy.response_timeout = policy.completion_timeout;  // the caller waits in run_phases all the while
  // What a phase has committed as the answer is the answer, whatever its status.
  for (int hundreds = 1; hundreds <= 5; ++hundreds)
    policy.statuses.set_class(hundreds, StatusMeaning::record);
  return policy;
}

void must_be_sound(const PhaseOptions& options, std::span<const Phase> phases) {
  if (options.lease <= milliseconds::zero()) throw std::invalid_argument("PhaseOptions::lease is none");
  std::set<std::string_view> points;
  for (const Phase& phase : phases) {
    // The next attempt would begin in the wrong place, and do again what has been done.
    if (phase.point.empty())
      throw std::invalid_argument("a phase leads to no recovery point: its name is empty");
    if (!points.insert(phase.point).second) throw std::invalid_argument("two phases lead to " + phase.point);
  }
}

void must_be_ok(Session& session, const Command& command) {
  const Store::Outcome outcome = std::move(session.execute({&command, 1}).at(0));
  if (const auto* failed = std::get_if<Store::Failed>(&outcome)) throw StoreError(failed->kind, failed->what);
  if (!std::holds_alternative<result::Ok>(std::get<Result>(outcome))) throw Fenced();
}

class Attempt final : public Running {
 public:
  Attempt(Pool& pool, const library::Drive& drive, const library::Drive::Granted& granted)
      : pool_(pool), drive_(drive), granted_(granted) {}

  const Token& token() const override { return granted_.token; }
  const Fingerprint& fingerprint() const override { return granted_.fingerprint; }

  void advance(Session& session) override {
    if (drive_.lost()) throw Fenced();
    must_be_ok(session, command::Advance{token(), phase_->point});
    advanced_ = true;
  }

  void complete(Session& session, const Answer& answer) override {
    if (drive_.lost()) throw Fenced();
    library::must_be_a_status(answer.status);
    must_be_ok(session, command::Complete{token(), answer, std::nullopt});
    answer_ = answer;
  }

  // The answer once a phase has completed the operation.
  std::optional<Answer> run(const Phase& phase) {
    phase_ = &phase;
    advanced_ = false;
    phase.run(*this);
    if (!advanced_ && !answer_) {
      throw std::logic_error("phase " + phase.point + " has ended without advance() or complete()");
    }
    must_be_committed();
    return answer_;
  }

 private:
  // What a phase has said is true by its commit alone. Recorded by us, the answer would stand without its
  // rows; and the next phase would go on from rows that are not there.
  void must_be_committed() const {
    const auto record = pool_.find(token().id());
    if (!record || record->token != token()) throw Fenced();
    const bool open = record->state == State::pending || record->state == State::unknown;
    const bool committed = answer_ ? !open : record->recovery_point == phase_->point;
    if (!committed) {
      throw std::logic_error("phase " + phase_->point + " has called " +
                             (answer_ ? "complete()" : "advance()") + " and not committed");
    }
  }

  Pool& pool_;
  const library::Drive& drive_;
  const library::Drive::Granted& granted_;
  const Phase* phase_ = nullptr;
  bool advanced_ = false;
  std::optional<Answer> answer_;
};

std::span<const Phase> left_of(std::span<const Phase> phases, const std::string& recovery_point) {
  if (recovery_point.empty()) return phases;
  const auto at = std::ranges::find(phases, recovery_point, &Phase::point);
  if (at == phases.end()) throw std::logic_error("there is no phase " + recovery_point + " to go on after");
  return {at + 1, phases.end()};
}

Answer run_all(Pool& pool, const library::Drive& drive, const library::Drive::Granted& granted,
               std::span<const Phase> phases) {
  Attempt attempt(pool, drive, granted);
  for (const Phase& phase : left_of(phases, granted.recovery_point)) {
    if (drive.lost()) throw Fenced();
    if (auto answer = attempt.run(phase)) return *std::move(answer);
  }
  throw std::logic_error("the last phase has ended without complete()");
}

// A renewal that came just after the last phase's commit was fenced by it, and the machine then shows what
// the store holds: that is the answer which this very call has committed.
RunResult as_ours(RunResult result, const Answer& answer) {
  if (result.ending == Ending::replayed && result.shown.answer == answer) {
    result.ending = Ending::ran;
    result.shown.kind = ShownKind::answer;
    result.shown.outcome = Outcome::completed;
  }
  return result;
}

}  // namespace

std::string Running::derive(std::string_view purpose) const {
  return stet::derive(token().id(), fingerprint(), purpose);
}

RunResult run_phases(Pool& pool, Renewer& renewer, const Intent& intent, const PhaseOptions& options,
                     std::span<const Phase> phases) {
  must_be_sound(options, phases);
  const auto drive = std::make_shared<library::Drive>(pool, library::StoreTrouble::is_an_event, intent,
                                                      policy_of(options), options.refingerprint);
  const auto end = [&drive] { return RunResult{library::ending_of(drive->shown()), drive->shown()}; };
  const auto granted = drive->claim();
  if (!granted) return end();

  library::Renewing renewing(renewer, drive);
  try {
    const Answer answer = run_all(pool, *drive, *granted, phases);
    renewing.stop();
    drive->settle(upstream::Answered{answer});
    return as_ours(end(), answer);
  } catch (const Fenced& fenced) {
    renewing.stop();
    drive->settle(upstream::Lost{fenced.what()});
    return end();
  } catch (const std::exception& error) {
    // A commit whose reply was lost has happened all the same: then the store knows the answer.
    renewing.stop();
    drive->settle(upstream::Lost{error.what()});
    RunResult result = end();
    if (result.ending == Ending::replayed) return result;
    throw;
  } catch (...) {
    renewing.stop();
    drive->settle(upstream::Lost{"a phase has ended without a word"});
    throw;
  }
}

}  // namespace stet
