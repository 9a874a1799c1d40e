// Another owner is at it.
#include <algorithm>

#include "core/exchange_pace.hpp"
#include "stet/exchange.hpp"

namespace stet {

using namespace std::chrono_literals;

void Exchange::another_owner(milliseconds retry_after) {
  if (policy_.in_progress == InProgressMode::wait && !patience_ends_) patience_ends_ = now_ + policy_.wait;
  if (policy_.in_progress == InProgressMode::wait && now_ < *patience_ends_ && presence_ == Presence::here) {
    phase_ = Phase::waiting;
    pause_ = pace::longer(pause_);
    out_.actions.push_back(action::AwaitOwner{id_, pause_});
    return;
  }
  if (policy_.in_progress == InProgressMode::accept) {
    Shown accepted;
    accepted.kind = ShownKind::accepted;
    accepted.outcome = Outcome::in_progress;
    accepted.retry_after = 1s;
    reply_and_finish(std::move(accepted));
    return;
  }
  Shown busy = problem(
      Problem::in_progress, Outcome::in_progress,
      "The first request with this key is still running. Send the same request again to get its answer.");
  busy.retry_after = std::clamp<milliseconds>(retry_after, 1ms, 1s);
  reply_and_finish(std::move(busy));
}

void Exchange::on(const event::OwnerSays& event) {
  if (phase_ != Phase::waiting) return;
  if (std::holds_alternative<owner::TooManyWaiters>(event.news)) {
    Shown shown = problem(Problem::overloaded, Outcome::in_progress,
                          "Too many requests already wait for the first one with this key.");
    shown.retry_after = 1s;
    reply_and_finish(std::move(shown));
    return;
  }
  if (const auto* ended = std::get_if<owner::Ended>(&event.news)) {
    // What was recorded is in the store, and is shown from there. What was released is nowhere else.
    const bool elsewhere =
        ended->shown.outcome == Outcome::completed || ended->shown.kind == ShownKind::stream;
    if (!elsewhere) {
      reply_and_finish(ended->shown);
      return;
    }
  }
  rounds_ = 0;
  store_ends_ = now_ + pace::kStoreGrace;
  claim();
}

void Exchange::on(const event::CallerLeft&) {
  presence_ = Presence::left;  // it may be between two looks at the store now
  if (phase_ == Phase::waiting) caller_waited_enough();
}

}  // namespace stet
