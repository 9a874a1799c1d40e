#include "stet/exchange.hpp"

#include <algorithm>
#include <utility>

#include "stet/decide.hpp"

namespace stet {
namespace {

using namespace std::chrono_literals;

// How long a store that does not answer is tried before the caller hears of it (failures.md, limits).
constexpr milliseconds kStoreGrace = 2s;
constexpr milliseconds kFirstPause = 20ms;
constexpr milliseconds kLongestPause = 1s;
// A record that changes under each of our looks is alive: after so many the caller is told "in progress".
constexpr std::uint32_t kMostRounds = 16;

milliseconds longer(milliseconds pause) {
  return std::clamp(pause * 2, kFirstPause, kLongestPause);
}

}  // namespace

Exchange::Exchange(Intent intent, Policy policy, MakeNonce make_nonce)
    : intent_(std::move(intent)),
      policy_(std::move(policy)),
      id_(OperationId::of(intent_.scope, intent_.key)),
      token_{intent_.scope, intent_.key, make_nonce(), 1} {}

Step Exchange::step(const Event& event, MonoTime now) {
  now_ = now;
  out_ = {};
  if (!finished()) std::visit([this](const auto& e) { on(e); }, event);
  out_.wake_at = next_wake();
  return std::move(out_);
}

// ---- claiming ----

void Exchange::on(const event::Start&) {
  store_ends_ = now_ + kStoreGrace;
  claim();
}

void Exchange::claim() {
  ++rounds_;
  lease_ends_ = now_ + policy_.lease;
  token_.attempt = 1;
  send(Phase::claiming, command::Claim{intent_.scope, intent_.key, token_.nonce, intent_.fingerprint,
                                       intent_.method, intent_.path, policy_.terms, policy_.lease});
}

void Exchange::after_claim(const Result& result, RunsHere runs_here) {
  if (const auto* mismatch = std::get_if<result::Mismatch>(&result)) mismatch_ = *mismatch;
  struct Follow {
    Exchange& self;
    const Result& result;

    void operator()(const decision::Run&) const { self.claimed(std::get<result::Claimed>(result)); }
    void operator()(const decision::Show& d) const { self.reply_and_finish(d.shown); }
    void operator()(const decision::Wait& d) const { self.another_owner(d.retry_after); }
    void operator()(const decision::Compare& d) const {
      self.phase_ = Phase::judging;
      self.out_.actions.push_back(action::Refingerprint{d.recipe});
    }
    void operator()(const decision::TakeOver& d) const {
      self.policy_.terms = std::get<result::Lapsed>(result).terms;
      self.take_over(d.seen);
    }
    void operator()(const decision::Ask& d) const {
      self.policy_.terms = std::get<result::Lapsed>(result).terms;
      self.seen_ = d.seen;
      self.phase_ = Phase::asking;
      self.out_.actions.push_back(action::Ask{d.seen});
    }
    void operator()(const decision::SettleUnknown& d) const {
      self.send(Phase::settling, command::SettleUnknown{d.seen, command::SettleUnknown::By::observer});
    }
  };
  Decision decision = decide(result, policy_, intent_.fingerprint.recipe, runs_here);
  const bool final =
      std::holds_alternative<decision::Run>(decision) || std::holds_alternative<decision::Show>(decision);
  if (rounds_ > kMostRounds && !final) decision = decision::Wait{1s};
  std::visit(Follow{*this, result}, decision);
}

void Exchange::on(const event::Refingerprinted& event) {
  if (phase_ != Phase::judging || !mismatch_) return;
  if (event.fingerprint && *event.fingerprint == mismatch_->stored) {
    intent_.fingerprint = *event.fingerprint;
    claim();
    return;
  }
  // Judged by its own recipe, or by none that can still be followed: a different request either way.
  mismatch_->stored.recipe = intent_.fingerprint.recipe;
  const Decision verdict = decide(Result{*mismatch_}, policy_, intent_.fingerprint.recipe, RunsHere::no);
  reply_and_finish(std::get<decision::Show>(verdict).shown);
}

// ---- another owner ----

void Exchange::another_owner(milliseconds retry_after) {
  if (policy_.in_progress == InProgressMode::wait && !patience_ends_) patience_ends_ = now_ + policy_.wait;
  if (policy_.in_progress == InProgressMode::wait && now_ < *patience_ends_) {
    phase_ = Phase::waiting;
    pause_ = longer(pause_);
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
  store_ends_ = now_ + kStoreGrace;
  claim();
}

void Exchange::on(const event::CallerLeft&) {
  if (phase_ == Phase::waiting) caller_waited_enough();
}

// ---- what became of an attempt that is not ours ----

void Exchange::take_over(const Token& seen) {
  lease_ends_ = now_ + policy_.lease;
  token_.attempt = seen.attempt + 1;
  send(Phase::taking_over, command::TakeOver{seen, token_.nonce, policy_.lease});
}

void Exchange::after_take_over(const Result& result) {
  if (const auto* granted = std::get_if<result::Claimed>(&result)) {
    claimed(*granted);
  } else {
    claim();  // somebody was faster, or it is ours and the reply was lost: the claim says which
  }
}

void Exchange::on(const event::Asked& event) {
  if (phase_ != Phase::asking || !seen_) return;
  if (const auto* completed = std::get_if<asked::Completed>(&event.verdict)) {
    send(Phase::settling, command::Complete{*seen_, completed->answer, std::nullopt});
    return;
  }
  const auto* never = std::get_if<asked::NeverExecuted>(&event.verdict);
  if (never != nullptr && never->attempt == seen_->attempt) {
    take_over(*seen_);
    return;
  }
  reply_and_finish(outcome_unknown(OnUnknown::ask, std::nullopt));
}

// ---- owning ----

bool Exchange::owns() const {
  return phase_ == Phase::renewing_first || phase_ == Phase::running || phase_ == Phase::storing;
}

void Exchange::claimed(const result::Claimed& granted) {
  trace_ = Trace::perhaps_ours;
  token_.attempt = granted.attempt;
  earlier_ = granted.maybe_executed || granted.attempt > 1 ? Earlier::one_unknown : Earlier::none_unknown;
  patience_ends_.reset();
  // A claim that was repeated may be older than its last reply: enough of the lease must be left before the
  // first byte goes out, or somebody could take over while it travels.
  if (*lease_ends_ - now_ < policy_.lease / 3) {
    phase_ = Phase::renewing_first;
    renew();
    return;
  }
  forward();
}

void Exchange::forward() {
  phase_ = Phase::running;
  patience_ends_ = now_ + policy_.response_timeout;
  completion_ends_ = now_ + policy_.completion_timeout;
  renew_at_ = *lease_ends_ - policy_.lease + policy_.lease / 3;
  pause_ = {};
  out_.actions.push_back(action::Forward{token_, *lease_ends_});
}

void Exchange::renew() {
  renew_at_.reset();
  lease_ends_ = now_ + policy_.lease;
  in_flight_ = InFlight::renewal;
  sent_ = Command{command::Renew{token_, policy_.lease}};
  out_.actions.push_back(action::Execute{std::get<Command>(sent_)});
}

void Exchange::after_renewal(const Result& result) {
  if (std::holds_alternative<result::Fenced>(result)) {
    if (phase_ == Phase::running) out_.actions.push_back(action::StopListening{});
    reread();
    return;
  }
  pause_ = {};
  renew_at_ = *lease_ends_ - policy_.lease + policy_.lease / 3;
  if (phase_ == Phase::renewing_first) {
    forward();
  } else if (phase_ == Phase::storing) {
    send(Phase::storing, *outcome_command_);
  }
}

void Exchange::on(const event::Upstream& event) {
  if (phase_ == Phase::running) outcome(event.outcome);
}

void Exchange::outcome(const UpstreamOutcome& from_upstream) {
  Settlement settlement = settle(from_upstream, policy_, earlier_);
  switch (settlement.write) {
    case Settlement::Write::complete:
      outcome_command_ = command::Complete{token_, settlement.shown.answer, std::nullopt};
      break;
    case Settlement::Write::release:
      outcome_command_ = command::Release{token_};
      break;
    case Settlement::Write::give_back:
      outcome_command_ = command::GiveBack{token_};
      break;
    case Settlement::Write::settle_unknown:
      outcome_command_ = command::SettleUnknown{token_};
      break;
  }
  outcome_shown_ = std::move(settlement.shown);
  phase_ = Phase::storing;
  if (in_flight_ == InFlight::nothing) send(Phase::storing, *outcome_command_);
}

void Exchange::after_outcome(const Result& result) {
  if (std::holds_alternative<result::Fenced>(result)) {
    reread();
    return;
  }
  if (const auto* ok = std::get_if<result::Ok>(&result);
      ok != nullptr && outcome_shown_->outcome == Outcome::completed) {
    outcome_shown_->replayable_until = ok->expires_at;
  }
  outcome_shown_->id = id_;
  last_word_ = *outcome_shown_;
  reply_and_finish(std::move(*outcome_shown_));
}

// An owner who was fenced never shows an answer of its own.
void Exchange::reread() {
  store_ends_ = now_ + kStoreGrace;
  send(Phase::rereading, id_);
}

void Exchange::on(const event::Found& event) {
  if (phase_ != Phase::rereading) return;
  in_flight_ = InFlight::nothing;
  Shown shown = outcome_unknown(policy_.terms.on_unknown, std::nullopt);
  // An operator may have freed the key, and another request may have it now.
  const bool same_request = event.record && event.record->fingerprint == intent_.fingerprint;
  if (same_request && event.record->state == State::pending) {
    shown = problem(Problem::in_progress, Outcome::in_progress,
                    "Another attempt with this key has taken over and is running.");
    shown.retry_after = 1s;
  } else if (same_request && event.record->state == State::completed) {
    shown = present(*event.record);
  }
  reply_and_finish(std::move(shown));
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
  pause_ = longer(pause_);
  if (was == InFlight::renewal && phase_ != Phase::renewing_first) {
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
      patience_ends_ = std::min(patience_ends_.value_or(MonoTime::max()), now_ + kStoreGrace);
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
  if (!store_ends_) store_ends_ = now_ + kStoreGrace;
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

// ---- time ----

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
  } else if (renew_at_ && now_ >= *renew_at_ && phase_ == Phase::running) {
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
  if (phase_ == Phase::storing && !std::holds_alternative<command::Complete>(*outcome_command_)) {
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

// What is true of our attempt although the store does not hold it. An answer is not shown before it does;
// that there is none need not wait.
Shown Exchange::best_known() const {
  const bool no_answer =
      phase_ == Phase::storing && !std::holds_alternative<command::Complete>(*outcome_command_);
  return no_answer ? *outcome_shown_ : outcome_unknown(policy_.terms.on_unknown, std::nullopt);
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
    if (phase_ == Phase::running) consider(renew_at_);
  }
  return next;
}

// ---- the caller ----

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
