#include "stet/phases.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "library/renewer_thread.hpp"
#include "stet/derive.hpp"

namespace stet {
namespace {

// Phases are fenced and their calls carry derived keys, so another attempt may always run.
Policy policy_of(const PhaseOptions& options) {
  Policy policy = library::repeatable(options.retention, options.tombstone);
  policy.lease = options.lease;
  policy.completion_timeout = options.give_up_after;
  policy.response_timeout = options.give_up_after;  // the caller waits in run_phases all the while
  // What a phase has committed as the answer is the answer, whatever its status.
  for (int hundreds = 1; hundreds <= 5; ++hundreds) policy.statuses.set_class(hundreds, StatusMeaning::record);
  return policy;
}

void must_be_ok(Session& session, const Command& command) {
  const Store::Outcome outcome = std::move(session.execute({&command, 1}).at(0));
  if (const auto* failed = std::get_if<Store::Failed>(&outcome)) throw StoreError(failed->kind, failed->what);
  if (!std::holds_alternative<result::Ok>(std::get<Result>(outcome))) throw Fenced();
}

class Attempt final : public Running {
 public:
  Attempt(const library::Drive& drive, Token token) : drive_(drive), token_(std::move(token)) {}

  const Token& token() const override { return token_; }

  void advance(Session& session) override {
    if (drive_.lost()) throw Fenced();
    must_be_ok(session, command::Advance{token_, phase_->point});
    advanced_ = true;
  }

  void complete(Session& session, const Answer& answer) override {
    if (drive_.lost()) throw Fenced();
    // No store could read another one again.
    if (answer.status < 100 || answer.status > 599) {
      throw std::invalid_argument("an answer's status is 100 to 599, not " + std::to_string(answer.status));
    }
    must_be_ok(session, command::Complete{token_, answer, std::nullopt});
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
    return answer_;
  }

 private:
  const library::Drive& drive_;
  const Token token_;
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

Answer run_all(const library::Drive& drive, const library::Drive::Granted& granted, std::span<const Phase> phases) {
  Attempt attempt(drive, granted.token);
  for (const Phase& phase : left_of(phases, granted.recovery_point)) {
    if (drive.lost()) throw Fenced();
    if (auto answer = attempt.run(phase)) return *std::move(answer);
  }
  throw std::logic_error("the last phase has ended without complete()");
}

// What is settled here is true by the phase's commit alone: recorded by us, the answer would stand without its rows.
void must_be_committed(Pool& pool, const Token& token) {
  const auto record = pool.find(token.id());
  if (record && record->token == token && record->state == State::pending) {
    throw std::logic_error("a phase has called complete() and not committed");
  }
}

// A renewal that came just after the last phase's commit was fenced by it, and the machine then shows what the store
// holds: that is the answer which this very call has committed.
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
  return stet::derive(token().id(), purpose);
}

RunResult run_phases(Pool& pool, Renewer& renewer, const Intent& intent, const PhaseOptions& options,
                     std::span<const Phase> phases) {
  const auto drive = std::make_shared<library::Drive>(pool, library::StoreTrouble::is_an_event, intent,
                                                      policy_of(options), options.refingerprint);
  const auto end = [&drive] { return RunResult{library::ending_of(drive->shown()), drive->shown()}; };
  const auto granted = drive->claim();
  if (!granted) return end();

  library::Renewing renewing(renewer, drive);
  try {
    const Answer answer = run_all(*drive, *granted, phases);
    renewing.stop();
    must_be_committed(pool, granted->token);
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
