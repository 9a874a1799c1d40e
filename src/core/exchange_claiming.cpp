// The key is claimed, or what became of an attempt that is not ours is found out.
#include "core/exchange_pace.hpp"
#include "stet/decide.hpp"
#include "stet/exchange.hpp"

namespace stet {

using namespace std::chrono_literals;

void Exchange::on(const event::Start&) {
  store_ends_ = now_ + pace::kStoreGrace;
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
  if (rounds_ > pace::kMostRounds && !final) decision = decision::Wait{1s};
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

// A copy of the claim, or of the take-over, may still be on its way. If it comes when the key has been freed
// again, by us or by whoever takes over, it makes this token good again, and an upstream that joins could
// commit under it although it was fenced. So an upstream gets no token whose making is in doubt: the lease is
// ended, and another one taken (ADR 6).
void Exchange::claim_anew() {
  claims_ = Claims::all_answered;
  const Token in_doubt = token_;
  token_.nonce = make_nonce_();
  send(Phase::settling, command::Renew{in_doubt, 0ms});
}

void Exchange::take_over(const Token& seen) {
  lease_ends_ = now_ + policy_.lease;
  token_.attempt = seen.attempt + 1;
  send(Phase::taking_over, command::TakeOver{seen, token_.nonce, policy_.lease});
}

void Exchange::after_take_over(const Result& result) {
  if (const auto* granted = std::get_if<result::Claimed>(&result)) {
    claimed(*granted);
  } else if (const auto* held = std::get_if<result::InProgress>(&result)) {
    another_owner(
        held->retry_after);  // its upstream holds the record, and is about to complete it or to give up
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

}  // namespace stet
