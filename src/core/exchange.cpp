#include "stet/exchange.hpp"

#include <algorithm>
#include <utility>

#include "core/exchange_pace.hpp"

namespace stet {

using namespace std::chrono_literals;

Exchange::Exchange(Intent intent, Policy policy, MakeNonce make_nonce)
    : intent_(std::move(intent)),
      policy_(std::move(policy)),
      make_nonce_(make_nonce),
      id_(OperationId::of(intent_.scope, intent_.key)),
      token_{intent_.scope, intent_.key, make_nonce(), 1} {}

Step Exchange::step(const Event& event, MonoTime now) {
  now_ = now;
  out_ = {};
  if (!finished()) std::visit([this](const auto& e) { on(e); }, event);
  out_.wake_at = next_wake();
  return std::move(out_);
}

// ---- the store ----

void Exchange::send(Phase phase, std::variant<Command, OperationId> what) {
  phase_ = phase;
  sent_ = std::move(what);
  repeat_at_.reset();
  repeat();
}

void Exchange::repeat() {
  in_flight_ = InFlight::command;
  if (const auto* command = std::get_if<Command>(&sent_)) {
    out_.actions.push_back(action::Execute{*command});
  } else {
    out_.actions.push_back(action::Find{std::get<OperationId>(sent_)});
  }
}

void Exchange::on(const event::Stored& event) {
  const InFlight was = std::exchange(in_flight_, InFlight::nothing);
  if (trace_ == Trace::none) trace_ = Trace::of_another;
  if (was == InFlight::renewal) {
    after_renewal(event.result);
    return;
  }
  switch (phase_) {
    case Phase::claiming:
      after_claim(event.result, event.runs_here);
      break;
    case Phase::taking_over:
      after_take_over(event.result);
      break;
    case Phase::settling:
      claim();
      break;  // written by us or by somebody else: the claim tells what stands now
    case Phase::storing:
      after_outcome(event.result);
      break;
    case Phase::withdrawing:
      finish();
      break;
    default:
      break;
  }
}

void Exchange::on(const event::StoreFailed& event) {
  const InFlight was = std::exchange(in_flight_, InFlight::nothing);
  pause_ = pace::longer(pause_);
  if ((was == InFlight::renewal && phase_ != Phase::renewing_first) || was == InFlight::look) {
    // A renewal is repeated by its own timer; the outcome, if it has come meanwhile, is what matters.
    renew_at_ = now_ + pause_;
    if (phase_ == Phase::storing) {
      sent_ = *outcome_command_;
      repeat_at_ = now_ + pause_;
    }
    return;
  }
  if (event.kind == StoreFailure::corrupt) {
    reply_and_finish(problem(
        Problem::store_corrupt, Outcome::unknown,
        "The stored record of this key cannot be read. Nothing of it is shown and nothing more is run "
        "under this key; an operator has to look at it."));
    return;
  }
  switch (phase_) {
    case Phase::storing:
      // The answer is in hand. The caller hears soon that it is not yet stored; storing goes on.
      patience_ends_ = std::min(patience_ends_.value_or(MonoTime::max()), now_ + pace::kStoreGrace);
      repeat_at_ = now_ + pause_;
      break;
    case Phase::withdrawing:
      repeat_at_ = now_ + pause_;
      break;
    default:
      store_is_away(event.kind);
      break;
  }
}

void Exchange::store_is_away(StoreFailure kind) {
  const bool refused = kind == StoreFailure::not_written || kind == StoreFailure::full;
  const bool claims = phase_ == Phase::claiming || phase_ == Phase::taking_over;
  if (refused && phase_ == Phase::claiming && trace_ == Trace::none &&
      policy_.on_store_failure == OnStoreFailure::open) {
    out_.actions.push_back(action::ProxyUnprotected{});
    finish();
    return;
  }
  if (claims && !refused) trace_ = Trace::perhaps_ours;
  if (claims && !refused) claims_ = Claims::one_in_doubt;
  if (!store_ends_) store_ends_ = now_ + pace::kStoreGrace;
  if (!refused && now_ + pause_ < *store_ends_) {
    // The nonce tells our own claim from a stranger's, so repeating it costs nothing. A take-over whose reply
    // was lost has a new token: it is the claim that recognises it.
    repeat_at_ = now_ + pause_;
    return;
  }
  if (phase_ == Phase::rereading) {
    reply_and_finish(best_known());
    return;
  }
  Shown shown = problem(Problem::store_unavailable, Outcome::unknown,
                        "The store of keys does not take this request now, so it was not passed on.");
  shown.retry_after = 1s;
  reply(std::move(shown));
  if (trace_ == Trace::perhaps_ours && (claims || phase_ == Phase::renewing_first)) {
    withdraw();
  } else {
    finish();
  }
}

// Not a byte was sent: if the claim was written after all, it may be freed at once. Beyond its lease it is
// lapsed and goes the way of every lapsed record.
void Exchange::withdraw() {
  phase_ = Phase::withdrawing;
  completion_ends_ = now_ + policy_.lease;
  sent_ = Command{command::Release{token_}};
  repeat_at_ = now_ + pause_;
}

}  // namespace stet
