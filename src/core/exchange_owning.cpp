// The operation is ours: it is forwarded, kept by renewals, and its outcome written down.
#include <utility>

#include "core/exchange_pace.hpp"
#include "stet/decide.hpp"
#include "stet/exchange.hpp"

namespace stet {

using namespace std::chrono_literals;

bool Exchange::owns() const {
  return phase_ == Phase::renewing_first || phase_ == Phase::running || phase_ == Phase::storing;
}

void Exchange::claimed(const result::Claimed& granted) {
  trace_ = Trace::perhaps_ours;
  token_.attempt = granted.attempt;
  if (claims_ == Claims::one_in_doubt && policy_.terms.on_unknown == OnUnknown::joined) {
    claim_anew();
    return;
  }
  // A joined attempt that was taken over did nothing, so its successor is as good as the first.
  const bool after_unknown =
      granted.maybe_executed || (granted.attempt > 1 && policy_.terms.on_unknown != OnUnknown::joined);
  earlier_ = after_unknown ? Earlier::one_unknown : Earlier::none_unknown;
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
    if (phase_ == Phase::renewing_first) {
      reread();
    } else {
      look();
    }
    return;
  }
  pause_ = {};
  renew_at_ = *lease_ends_ - policy_.lease + policy_.lease / 3;
  if (phase_ == Phase::renewing_first) {
    forward();
  } else if (phase_ == Phase::storing) {
    begin_storing();
  }
}

void Exchange::on(const event::Upstream& event) {
  if (phase_ == Phase::running) outcome(event.outcome);
}

void Exchange::outcome(const UpstreamOutcome& from_upstream) {
  settlement_ = settle(from_upstream, policy_, earlier_);
  switch (settlement_->write) {
    case Settlement::Write::complete:
      outcome_command_ = command::Complete{token_, settlement_->shown.answer, std::nullopt};
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
  phase_ = Phase::storing;
  if (in_flight_ == InFlight::nothing) begin_storing();
}

void Exchange::begin_storing() {
  if (settlement_->first == Settlement::First::look) {
    send(Phase::storing, id_);
  } else {
    send(Phase::storing, *outcome_command_);
  }
}

void Exchange::after_outcome(const Result& result) {
  if (std::holds_alternative<result::Fenced>(result)) {
    reread();
    return;
  }
  Shown& shown = settlement_->shown;
  if (const auto* ok = std::get_if<result::Ok>(&result); ok && shown.outcome == Outcome::completed) {
    shown.replayable_until = ok->expires_at;
  }
  shown.id = id_;
  last_word_ = shown;
  reply_and_finish(std::move(shown));
}

// ---- what our record says ----

void Exchange::look() {
  in_flight_ = InFlight::look;
  sent_ = id_;
  out_.actions.push_back(action::Find{id_});
}

void Exchange::on(const event::Found& event) {
  in_flight_ = InFlight::nothing;
  if (phase_ == Phase::running || phase_ == Phase::storing) {
    after_look(event.record);
  } else if (phase_ == Phase::rereading) {
    fenced_by(event.record);
  }
}

void Exchange::after_look(const std::optional<Record>& record) {
  const bool ours = record && record->token == token_;
  if (!ours || record->state == State::completed || record->state == State::expired) {
    if (phase_ == Phase::running) out_.actions.push_back(action::StopListening{});
    fenced_by(record);
    return;
  }
  // Settled as unknown while we were slow, it is still under our token: our late truth wins, and no lease
  // keeps it.
  if (record->state == State::unknown) {
    renew_at_.reset();
  } else if (!renew_at_) {
    renew_at_ = now_ + pace::kLongestPause;
  }
  if (phase_ == Phase::storing) send(Phase::storing, *outcome_command_);
}

// An owner who was fenced never shows an answer of its own.
void Exchange::reread() {
  store_ends_ = now_ + pace::kStoreGrace;
  send(Phase::rereading, id_);
}

void Exchange::fenced_by(const std::optional<Record>& record) {
  // An operator may have freed the key, and another request may have it now.
  if (!record || record->fingerprint != intent_.fingerprint) {
    Shown shown = outcome_unknown(policy_.terms.on_unknown, std::nullopt);
    if (!record && policy_.terms.on_unknown == OnUnknown::fail) {
      shown.detail =
          "The request may have been executed, and the record of its key is gone: the store lost it, or "
          "somebody "
          "released it. The same request would run again. Look the result up in the API first.";
    }
    reply_and_finish(std::move(shown));
    return;
  }
  if (record->state == State::completed && record->token == token_ && record->answer) {
    recorded(*record);
    return;
  }
  Shown shown = present(*record);
  if (record->state == State::pending) {
    shown = problem(Problem::in_progress, Outcome::in_progress,
                    "Another attempt with this key has taken over and is running.");
    shown.retry_after = 1s;
  }
  reply_and_finish(std::move(shown));
}

// Somebody who knew has recorded how this very attempt ended: an upstream that joins, in the transaction of
// its rows. Its answer is what every retry gets, so the first caller gets it, whatever became of the
// connection.
void Exchange::recorded(const Record& record) {
  Shown shown = replay(*record.answer, record.expires_at);
  const bool in_hand = settlement_ && (settlement_->shown.kind == ShownKind::answer ||
                                       settlement_->shown.kind == ShownKind::stream);
  if (record.answer->kept == Kept::head_only && in_hand &&
      settlement_->shown.answer.status == record.answer->status) {
    shown = settlement_->shown;  // recorded without its body, which nobody but this caller will ever get
    shown.replayable_until = record.expires_at;
  }
  shown.outcome = Outcome::completed;
  shown.id = id_;
  last_word_ = shown;
  reply_and_finish(std::move(shown));
}

}  // namespace stet
