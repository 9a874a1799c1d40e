#include "library/drive.hpp"

#include <deque>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace stet::library {

Drive::Drive(Store& store, StoreTrouble trouble, const Intent& intent, Policy policy,
             const Refingerprint& refingerprint)
    : store_(store), trouble_(trouble), refingerprint_(refingerprint), exchange_(intent, std::move(policy)) {}

std::optional<Drive::Granted> Drive::claim() {
  std::unique_lock lock(mutex_);
  pump(event::Start{});
  until_forwarded_or_finished(lock);
  return std::exchange(granted_, std::nullopt);
}

void Drive::settle(const UpstreamOutcome& outcome) {
  std::unique_lock lock(mutex_);
  pump(event::Upstream{outcome});
  until_forwarded_or_finished(lock);
}

// The machine asks to be woken where a store is to be asked again. What it would still write down after its
// reply is not worth the caller's time: a lease that nobody renews ends by itself.
void Drive::until_forwarded_or_finished(std::unique_lock<std::mutex>& lock) {
  while (!granted_ && !replied_ && !exchange_.finished() && wake_at_) {
    const MonoTime until = *wake_at_;
    lock.unlock();
    std::this_thread::sleep_until(until);
    lock.lock();
    pump(event::Woken{});
  }
}

std::optional<MonoTime> Drive::wake() noexcept {
  const std::lock_guard lock(mutex_);
  if (exchange_.finished()) return std::nullopt;
  if (wake_at_ && *wake_at_ <= std::chrono::steady_clock::now()) pump(event::Woken{});
  return exchange_.finished() ? std::nullopt : wake_at_;
}

void Drive::pump(Event event) {
  struct Do {
    Drive& drive;
    std::deque<Event>& next;

    void operator()(const action::Execute& a) const {
      if (drive.would_settle_in_vain(a.command)) {
        drive.tell(outcome_unknown(OnUnknown::fail, std::nullopt));
      } else {
        next.push_back(drive.execute(a.command));
      }
    }
    void operator()(const action::Find& a) const { next.push_back(drive.find(a.id)); }
    void operator()(const action::Refingerprint& a) const {
      next.push_back(
          event::Refingerprinted{drive.refingerprint_ ? drive.refingerprint_(a.recipe) : std::nullopt});
    }
    void operator()(const action::Forward& a) const {
      drive.granted_ = Granted{a.token, drive.claimed_, drive.recovery_point_};
    }
    // Nobody to ask: a record of a route that asks is another program's.
    void operator()(const action::Ask&) const { next.push_back(event::Asked{asked::Nothing{}}); }
    void operator()(const action::AwaitOwner& a) const {
      std::this_thread::sleep_for(a.pause);
      next.push_back(event::OwnerSays{owner::NotHere{}});
    }
    void operator()(const action::StopListening&) const { drive.lost_ = true; }
    void operator()(const action::Reply& a) const { drive.tell(a.shown); }
    void operator()(const action::StopWaiting&) const {}
    void operator()(const action::ProxyUnprotected&) const {}
  };
  std::deque<Event> events{std::move(event)};
  while (!events.empty()) {
    const Event now = std::move(events.front());
    events.pop_front();
    const Step step = exchange_.step(now, std::chrono::steady_clock::now());
    wake_at_ = step.wake_at;
    for (const Action& action : step.actions) std::visit(Do{*this, events}, action);
  }
}

void Drive::tell(const Shown& shown) {
  shown_ = shown;
  shown_.id = exchange_.id();
  replied_ = true;
}

bool Drive::would_settle_in_vain(const Command& command) const {
  const auto* const settle = std::get_if<command::SettleUnknown>(&command);
  return settle != nullptr && settle->by == command::SettleUnknown::By::observer &&
         trouble_ == StoreTrouble::passes_through;
}

// A claim that is completed in its own transaction is seen by nobody while it is pending: it needs no lease.
Command Drive::as_sent(Command command) const {
  auto* const claim = std::get_if<command::Claim>(&command);
  if (claim != nullptr && trouble_ == StoreTrouble::passes_through) claim->lease = milliseconds::zero();
  return command;
}

Event Drive::execute(const Command& by_machine) {
  const Command command = as_sent(by_machine);
  if (const auto* claim = std::get_if<command::Claim>(&command)) claimed_ = claim->fingerprint;
  try {
    Store::Outcome outcome = std::move(store_.execute({&command, 1}).at(0));
    if (const auto* failed = std::get_if<Store::Failed>(&outcome))
      throw StoreError(failed->kind, failed->what);
    Result& result = std::get<Result>(outcome);
    if (const auto* claimed = std::get_if<result::Claimed>(&result))
      recovery_point_ = claimed->recovery_point;
    return event::Stored{std::move(result)};
  } catch (const StoreError& error) {
    if (trouble_ == StoreTrouble::passes_through && error.kind() != StoreFailure::corrupt) throw;
    return event::StoreFailed{error.kind()};
  } catch (const std::exception&) {
    if (trouble_ == StoreTrouble::passes_through) throw;
    return event::StoreFailed{StoreFailure::unavailable};
  }
}

Event Drive::find(const OperationId& id) {
  try {
    return event::Found{store_.find(id)};
  } catch (const StoreError& error) {
    if (trouble_ == StoreTrouble::passes_through && error.kind() != StoreFailure::corrupt) throw;
    return event::StoreFailed{error.kind()};
  } catch (const std::exception&) {
    if (trouble_ == StoreTrouble::passes_through) throw;
    return event::StoreFailed{StoreFailure::unavailable};
  }
}

Policy policy(OnUnknown on_unknown, milliseconds retention, milliseconds tombstone) {
  Policy policy;
  policy.terms.scope_rule = kScopeRule;
  policy.terms.on_unknown = on_unknown;
  policy.terms.retention = retention;
  policy.terms.tombstone = tombstone;
  policy.promise = UpstreamPromise::idempotent;
  return policy;
}

void must_be_a_status(int status) {
  if (status >= 100 && status <= 599) return;
  throw std::invalid_argument("an answer's status is 100 to 599, not " + std::to_string(status));
}

Ending ending_of(const Shown& shown) {
  switch (shown.kind) {
    case ShownKind::replay:
      return Ending::replayed;
    case ShownKind::answer:
    case ShownKind::stream:
      return shown.outcome == Outcome::completed ? Ending::ran : Ending::declined;
    case ShownKind::problem:
    case ShownKind::accepted:
      return Ending::refused;
  }
  return Ending::refused;
}

}  // namespace stet::library
