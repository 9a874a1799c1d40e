// What time does to an exchange, and what its caller is shown meanwhile.
#include <algorithm>
#include <utility>

#include "stet/decide.hpp"
#include "stet/exchange.hpp"

namespace stet {

using namespace std::chrono_literals;

void Exchange::on(const event::Woken&) {
  if (completion_ends_ && now_ >= *completion_ends_) {
    completion_ends_.reset();
    if (phase_ == Phase::running) {
      out_.actions.push_back(action::StopListening{});
      outcome(upstream::Lost{"no answer came in time"});
      completion_ends_ = now_ + policy_.lease;  // to store that, too
      return;
    }
    // What it came to could not be written down in time, and nobody here will do it later.
    reply_and_finish(best_known());
    return;
  }
  if (patience_ends_ && now_ >= *patience_ends_) {
    caller_waited_enough();
    if (finished()) return;
  }
  if (in_flight_ != InFlight::nothing) return;
  if (repeat_at_ && now_ >= *repeat_at_) {
    repeat_at_.reset();
    if (phase_ == Phase::taking_over) {
      claim();
    } else if (phase_ == Phase::renewing_first) {
      renew();
    } else {
      repeat();
    }
  } else if (renew_at_ && now_ >= *renew_at_ && keeps_lease()) {
    renew();
  }
}

void Exchange::caller_waited_enough() {
  patience_ends_.reset();
  if (phase_ == Phase::waiting) {
    out_.actions.push_back(action::StopWaiting{});
    policy_.in_progress = InProgressMode::conflict;
    another_owner(1s);
    return;
  }
  if (!owns()) return;
  if (phase_ == Phase::storing && settlement_->holds == Settlement::Holds::already) {
    reply(best_known());
    return;
  }
  Shown shown;
  if (policy_.in_progress == InProgressMode::accept) {
    shown.kind = ShownKind::accepted;
    shown.outcome = Outcome::in_progress;
  } else {
    shown = problem(
        Problem::still_running, Outcome::in_progress,
        "The request is still running. Its answer is kept when it comes: send the same request with the "
        "same key again to get it.");
  }
  shown.retry_after = 1s;
  reply(std::move(shown));
}

// What is true of our attempt although the store does not hold it.
Shown Exchange::best_known() const {
  const bool known = phase_ == Phase::storing && settlement_->holds == Settlement::Holds::already;
  return known ? settlement_->shown : outcome_unknown(policy_.terms.on_unknown, std::nullopt);
}

std::optional<MonoTime> Exchange::next_wake() const {
  if (finished()) return std::nullopt;
  std::optional<MonoTime> next;
  const auto consider = [&next](const std::optional<MonoTime>& time) {
    if (time && (!next || *time < *next)) next = time;
  };
  consider(completion_ends_);
  if (caller_ == Caller::waits && (owns() || phase_ == Phase::waiting)) consider(patience_ends_);
  if (in_flight_ == InFlight::nothing) {
    consider(repeat_at_);
    if (keeps_lease()) consider(renew_at_);
  }
  return next;
}

void Exchange::reply(Shown shown) {
  if (std::exchange(caller_, Caller::answered) == Caller::answered) return;
  shown.id = id_;
  out_.actions.push_back(action::Reply{std::move(shown)});
}

void Exchange::reply_and_finish(Shown shown) {
  reply(std::move(shown));
  finish();
}

void Exchange::finish() {
  phase_ = Phase::finished;
}

}  // namespace stet
