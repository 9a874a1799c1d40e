#include "stet/exchange.hpp"

#include <gtest/gtest.h>

namespace stet {
namespace {

using namespace std::chrono_literals;

Nonce fixed_nonce() {
  return Nonce{{1, 2, 3}};
}

// Drives one exchange by hand, keeping the actions of the last step.
struct Driven {
  explicit Driven(Policy policy = {})
      : exchange({"scope", "key", Fingerprint{{}, "v1"}, "POST", "/charges"}, std::move(policy),
                 &fixed_nonce) {
    feed(event::Start{});
  }

  void feed(const Event& event) {
    Step step = exchange.step(event, now);
    actions = std::move(step.actions);
    wake_at = step.wake_at;
    for (const Action& action : actions) {
      if (const auto* reply = std::get_if<action::Reply>(&action)) {
        EXPECT_FALSE(shown) << "answered twice";
        shown = reply->shown;
      }
      if (std::holds_alternative<action::Forward>(action)) ++forwards;
    }
  }
  void stored(Result result, RunsHere here = RunsHere::no) { feed(event::Stored{std::move(result), here}); }
  void upstream(UpstreamOutcome outcome) { feed(event::Upstream{std::move(outcome)}); }
  void wake() {
    ASSERT_TRUE(wake_at);
    now = *wake_at;
    feed(event::Woken{});
  }
  template <class C>
  const C* command() const {
    for (const Action& action : actions) {
      if (const auto* execute = std::get_if<action::Execute>(&action))
        return std::get_if<C>(&execute->command);
    }
    return nullptr;
  }
  template <class A>
  const A* did() const {
    for (const Action& action : actions) {
      if (const auto* found = std::get_if<A>(&action)) return found;
    }
    return nullptr;
  }

  Exchange exchange;
  MonoTime now{1h};
  std::vector<Action> actions;
  std::optional<MonoTime> wake_at;
  std::optional<Shown> shown;
  int forwards = 0;
};

Policy with(OnUnknown on_unknown, UpstreamPromise promise = UpstreamPromise::none) {
  Policy policy;
  policy.terms.on_unknown = on_unknown;
  policy.promise = promise;
  return policy;
}

Policy in_mode(InProgressMode mode) {
  Policy policy;
  policy.in_progress = mode;
  return policy;
}

Terms terms(OnUnknown on_unknown) {
  Terms terms;
  terms.on_unknown = on_unknown;
  return terms;
}

const UpstreamOutcome kCreated = upstream::Answered{Answer{201, {{"Location", "/c/1"}}, "{}"}, {}};
const Token kStranger{"scope", "key", Nonce{{9}}, 4};

TEST(Exchange, forwards_only_after_the_claim_is_durable_and_replies_only_after_the_answer_is) {
  Driven run;
  ASSERT_TRUE(run.command<command::Claim>());
  EXPECT_EQ(run.forwards, 0);
  run.stored(result::Claimed{});
  EXPECT_EQ(run.forwards, 1);
  run.upstream(kCreated);
  ASSERT_TRUE(run.command<command::Complete>());
  EXPECT_FALSE(run.shown);
  run.stored(result::Ok{WallTime{5s}});
  ASSERT_TRUE(run.shown);
  EXPECT_EQ(run.shown->answer.status, 201);
  EXPECT_EQ(run.shown->outcome, Outcome::completed);
  EXPECT_EQ(run.shown->replayable_until, WallTime{5s});
  EXPECT_TRUE(run.exchange.finished());
  EXPECT_EQ(run.exchange.last_word()->outcome, Outcome::completed);
}

TEST(Exchange, replays_without_the_upstream) {
  Driven run;
  run.stored(result::Replay{Answer{201, {}, "first"}, std::nullopt});
  EXPECT_EQ(run.forwards, 0);
  EXPECT_EQ(run.shown->kind, ShownKind::replay);
  EXPECT_EQ(run.shown->answer.body, "first");
}

TEST(Exchange, tells_a_second_request_that_the_first_is_running_by_conflict) {
  Driven run;
  run.stored(result::InProgress{25s});
  EXPECT_EQ(run.shown->problem, Problem::in_progress);
  EXPECT_LE(*run.shown->retry_after, 1s);
  EXPECT_EQ(run.forwards, 0);
}

// Trellis PR695: Retry-After beyond the lease.
TEST(Exchange, never_asks_for_more_patience_than_the_lease_has_left) {
  Driven run;
  run.stored(result::InProgress{300ms});
  EXPECT_EQ(*run.shown->retry_after, 300ms);
}

TEST(Exchange, accepts_a_second_request_where_the_route_says_so) {
  Driven run(in_mode(InProgressMode::accept));
  run.stored(result::InProgress{25s});
  EXPECT_EQ(run.shown->kind, ShownKind::accepted);
}

TEST(Exchange, waits_for_the_owner_and_then_shows_what_the_store_holds) {
  Driven run(in_mode(InProgressMode::wait));
  run.stored(result::InProgress{25s});
  ASSERT_TRUE(run.did<action::AwaitOwner>());
  Shown completed;
  completed.outcome = Outcome::completed;
  run.feed(event::OwnerSays{owner::Ended{completed}});
  ASSERT_TRUE(run.command<command::Claim>());
  run.stored(result::Replay{Answer{201, {}, "first"}, std::nullopt});
  EXPECT_EQ(run.shown->kind, ShownKind::replay);
}

TEST(Exchange, gives_waiters_the_released_answer_itself_and_lets_none_of_them_claim) {
  Driven run(in_mode(InProgressMode::wait));
  run.stored(result::InProgress{25s});
  Shown refused;
  refused.kind = ShownKind::answer;
  refused.outcome = Outcome::not_executed;
  refused.answer.status = 429;
  run.feed(event::OwnerSays{owner::Ended{refused}});
  EXPECT_EQ(run.shown->answer.status, 429);
  EXPECT_TRUE(run.exchange.finished());
  EXPECT_EQ(run.forwards, 0);
}

TEST(Exchange, stops_waiting_after_the_routes_wait) {
  Driven run(in_mode(InProgressMode::wait));
  run.stored(result::InProgress{25s});
  run.wake();
  EXPECT_TRUE(run.did<action::StopWaiting>());
  EXPECT_EQ(run.shown->problem, Problem::in_progress);
}

TEST(Exchange, gives_the_place_of_a_waiter_who_left_back_and_runs_on_without_its_caller) {
  Driven waiter(in_mode(InProgressMode::wait));
  waiter.stored(result::InProgress{25s});
  waiter.feed(event::CallerLeft{});
  EXPECT_TRUE(waiter.did<action::StopWaiting>());
  EXPECT_TRUE(waiter.exchange.finished());

  Driven owner;
  owner.stored(result::Claimed{});
  owner.feed(event::CallerLeft{});
  EXPECT_TRUE(owner.actions.empty());
  owner.upstream(kCreated);
  EXPECT_TRUE(owner.command<command::Complete>());
}

TEST(Exchange, says_overloaded_but_never_not_executed_when_too_many_wait) {
  Driven run(in_mode(InProgressMode::wait));
  run.stored(result::InProgress{25s});
  run.feed(event::OwnerSays{owner::TooManyWaiters{}});
  EXPECT_EQ(run.shown->problem, Problem::overloaded);
  EXPECT_EQ(run.shown->outcome, Outcome::in_progress);
}

TEST(Exchange, polls_the_store_for_an_owner_elsewhere_with_growing_pauses) {
  Driven run(in_mode(InProgressMode::wait));
  milliseconds last{0};
  for (int i = 0; i < 30; ++i) {
    run.stored(result::InProgress{25s});
    ASSERT_TRUE(run.did<action::AwaitOwner>()) << i;
    EXPECT_GE(run.did<action::AwaitOwner>()->pause, last);
    last = run.did<action::AwaitOwner>()->pause;
    run.feed(event::OwnerSays{owner::NotHere{}});
  }
  EXPECT_EQ(last, 1s);
}

TEST(Exchange, renews_at_every_third_of_the_lease_while_the_upstream_works) {
  Driven run;
  run.stored(result::Claimed{});
  const MonoTime start = run.now;
  run.wake();
  EXPECT_EQ(run.now - start, 10s);
  EXPECT_TRUE(run.command<command::Renew>());
  run.stored(result::Ok{});
  run.wake();
  EXPECT_EQ(run.now - start, 20s);
  EXPECT_TRUE(run.command<command::Renew>());
}

TEST(Exchange, tells_a_patient_caller_that_it_is_still_running_and_stores_the_late_answer) {
  Policy policy;
  policy.response_timeout = 5s;
  Driven run(policy);
  run.stored(result::Claimed{});
  run.wake();
  EXPECT_EQ(run.shown->problem, Problem::still_running);
  EXPECT_EQ(run.shown->outcome, Outcome::in_progress);
  EXPECT_FALSE(run.exchange.finished());
  run.upstream(kCreated);
  EXPECT_TRUE(run.command<command::Complete>());
  run.stored(result::Ok{});
  EXPECT_TRUE(run.exchange.finished());
  EXPECT_EQ(run.exchange.last_word()->answer.status, 201);
}

TEST(Exchange, gives_up_listening_at_the_completion_timeout_and_says_unknown) {
  Policy policy;
  policy.response_timeout = 1h;
  policy.completion_timeout = 5s;
  Driven run(policy);
  run.stored(result::Claimed{});
  run.wake();
  EXPECT_TRUE(run.did<action::StopListening>());
  EXPECT_TRUE(run.command<command::SettleUnknown>());
  run.stored(result::Ok{});
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
}

TEST(Exchange, holds_the_outcome_while_a_renewal_is_in_flight_so_that_one_command_is) {
  Driven run;
  run.stored(result::Claimed{});
  run.wake();
  ASSERT_TRUE(run.command<command::Renew>());
  run.upstream(kCreated);
  EXPECT_FALSE(run.command<command::Complete>());
  run.stored(result::Ok{});
  EXPECT_TRUE(run.command<command::Complete>());
}

TEST(Exchange, stores_the_outcome_even_when_the_renewal_before_it_failed) {
  Driven run;
  run.stored(result::Claimed{});
  run.wake();
  run.upstream(kCreated);
  run.feed(event::StoreFailed{StoreFailure::unavailable});
  run.wake();
  EXPECT_TRUE(run.command<command::Complete>());
}

TEST(Exchange, shows_what_the_store_holds_and_not_its_own_answer_once_fenced) {
  Driven run;
  run.stored(result::Claimed{});
  run.upstream(kCreated);
  run.stored(result::Fenced{});
  ASSERT_TRUE(run.did<action::Find>());
  Record other;
  other.token = kStranger;
  other.fingerprint = {{}, "v1"};
  other.state = State::completed;
  other.answer = Answer{200, {}, "theirs"};
  run.feed(event::Found{other});
  EXPECT_EQ(run.shown->answer.body, "theirs");
}

TEST(Exchange, says_unknown_when_fenced_by_a_record_that_has_gone) {
  Driven run;
  run.stored(result::Claimed{});
  run.upstream(kCreated);
  run.stored(result::Fenced{});
  run.feed(event::Found{std::nullopt});
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
}

TEST(Exchange, stops_listening_when_a_renewal_is_fenced) {
  Driven run;
  run.stored(result::Claimed{});
  run.wake();
  run.stored(result::Fenced{});
  EXPECT_TRUE(run.did<action::StopListening>());
  Record other;
  other.token = kStranger;
  other.fingerprint = {{}, "v1"};
  run.feed(event::Found{other});
  EXPECT_EQ(run.shown->problem, Problem::in_progress);
}

// idempot-js#185: an insert whose acknowledgement was lost met itself as a stranger.
TEST(Exchange, repeats_a_claim_whose_reply_was_lost_under_the_same_nonce) {
  Driven run;
  const Nonce nonce = run.command<command::Claim>()->nonce;
  run.feed(event::StoreFailed{StoreFailure::unavailable});
  EXPECT_FALSE(run.shown);
  run.wake();
  ASSERT_TRUE(run.command<command::Claim>());
  EXPECT_EQ(run.command<command::Claim>()->nonce, nonce);
}

TEST(Exchange, forwards_nothing_while_the_store_is_away_and_frees_a_claim_that_may_exist) {
  Driven run;
  for (int i = 0; i < 100 && !run.shown; ++i) {
    run.feed(event::StoreFailed{StoreFailure::unavailable});
    if (!run.shown) run.wake();
  }
  ASSERT_TRUE(run.shown);
  EXPECT_EQ(run.shown->problem, Problem::store_unavailable);
  EXPECT_EQ(run.shown->outcome, Outcome::unknown);
  run.wake();
  EXPECT_TRUE(run.command<command::Release>());
  run.stored(result::Ok{});
  EXPECT_TRUE(run.exchange.finished());
  EXPECT_EQ(run.forwards, 0);
}

TEST(Exchange, goes_unprotected_only_when_the_route_says_so_and_the_claim_was_certainly_not_written) {
  Policy open;
  open.on_store_failure = OnStoreFailure::open;
  Driven refused(open);
  refused.feed(event::StoreFailed{StoreFailure::full});
  EXPECT_TRUE(refused.did<action::ProxyUnprotected>());
  Driven in_doubt(open);
  in_doubt.feed(event::StoreFailed{StoreFailure::unavailable});
  EXPECT_FALSE(in_doubt.did<action::ProxyUnprotected>());
  Driven closed;
  closed.feed(event::StoreFailed{StoreFailure::full});
  EXPECT_EQ(closed.shown->problem, Problem::store_unavailable);
}

TEST(Exchange, keeps_trying_to_store_an_answer_and_tells_the_caller_meanwhile) {
  Driven run;
  run.stored(result::Claimed{});
  run.upstream(kCreated);
  const MonoTime answered = run.now;
  for (int i = 0; i < 100 && !run.shown; ++i) {
    run.feed(event::StoreFailed{StoreFailure::full});
    if (!run.shown) run.wake();
    if (run.command<command::Complete>()) continue;
  }
  ASSERT_TRUE(run.shown);
  EXPECT_EQ(run.shown->problem, Problem::still_running);
  EXPECT_LE(run.now - answered, 3s);
  run.wake();
  ASSERT_TRUE(run.command<command::Complete>());
  run.stored(result::Ok{});
  EXPECT_TRUE(run.exchange.finished());
}

TEST(Exchange, never_runs_what_cannot_be_read) {
  Driven run;
  run.feed(event::StoreFailed{StoreFailure::corrupt});
  EXPECT_EQ(run.shown->problem, Problem::store_corrupt);
  EXPECT_EQ(run.forwards, 0);
}

TEST(Exchange, settles_a_dead_owners_attempt_as_unknown_and_then_reads_what_stands) {
  Driven run(with(OnUnknown::fail));
  run.stored(result::Lapsed{kStranger, terms(OnUnknown::fail), false});
  ASSERT_TRUE(run.command<command::SettleUnknown>());
  EXPECT_EQ(run.command<command::SettleUnknown>()->token, kStranger);
  run.stored(result::Ok{});
  run.stored(result::Unknown{kStranger, terms(OnUnknown::fail)});
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
  EXPECT_EQ(run.forwards, 0);
}

TEST(Exchange, takes_over_where_the_upstream_drops_repeats) {
  Driven run(with(OnUnknown::retry, UpstreamPromise::idempotent));
  run.stored(result::Lapsed{kStranger, terms(OnUnknown::retry), false});
  ASSERT_TRUE(run.command<command::TakeOver>());
  run.stored(result::Claimed{5, "", true});
  ASSERT_TRUE(run.did<action::Forward>());
  EXPECT_EQ(run.did<action::Forward>()->token.attempt, 5u);
}

TEST(Exchange, claims_again_when_somebody_was_faster_with_the_take_over) {
  Driven run(with(OnUnknown::retry, UpstreamPromise::idempotent));
  run.stored(result::Lapsed{kStranger, terms(OnUnknown::retry), false});
  run.stored(result::Fenced{});
  ASSERT_TRUE(run.command<command::Claim>());
  run.stored(result::InProgress{30s});
  EXPECT_EQ(run.forwards, 0);
  EXPECT_EQ(run.shown->problem, Problem::in_progress);
}

TEST(Exchange, asks_before_anything_runs_again_and_believes_only_a_promise_about_that_attempt) {
  for (const std::uint32_t attempt : {3u, 4u}) {
    Driven run(with(OnUnknown::ask));
    run.stored(result::Lapsed{kStranger, terms(OnUnknown::ask), false});
    ASSERT_TRUE(run.did<action::Ask>());
    run.feed(event::Asked{asked::NeverExecuted{attempt}});
    if (attempt == kStranger.attempt) {
      EXPECT_TRUE(run.command<command::TakeOver>());
    } else {
      EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
      EXPECT_TRUE(run.shown->retryable);
    }
  }
}

TEST(Exchange, stores_the_answer_that_the_upstream_remembers) {
  Driven run(with(OnUnknown::ask));
  run.stored(result::Lapsed{kStranger, terms(OnUnknown::ask), false});
  run.feed(event::Asked{asked::Completed{Answer{201, {}, "remembered"}}});
  ASSERT_TRUE(run.command<command::Complete>());
  EXPECT_EQ(run.command<command::Complete>()->token, kStranger);
  run.stored(result::Ok{});
  run.stored(result::Replay{Answer{201, {}, "remembered"}, std::nullopt});
  EXPECT_EQ(run.shown->answer.body, "remembered");
}

TEST(Exchange, judges_a_difference_by_the_stored_recipe_before_calling_it_reuse) {
  const Fingerprint stored{{7}, "v0"};
  Driven same;
  same.stored(result::Mismatch{State::completed, stored, "POST", "/charges"});
  ASSERT_TRUE(same.did<action::Refingerprint>());
  same.feed(event::Refingerprinted{stored});
  ASSERT_TRUE(same.command<command::Claim>());
  EXPECT_EQ(same.command<command::Claim>()->fingerprint, stored);
  for (const auto& remade :
       {std::optional<Fingerprint>(Fingerprint{{8}, "v0"}), std::optional<Fingerprint>()}) {
    Driven other;
    other.stored(result::Mismatch{State::completed, stored, "POST", "/charges"});
    other.feed(event::Refingerprinted{remade});
    EXPECT_EQ(other.shown->problem, Problem::key_reused);
  }
}

TEST(Exchange, renews_before_the_first_byte_when_the_claim_was_slow) {
  Driven run;
  run.now += 25s;
  run.stored(result::Claimed{});
  EXPECT_EQ(run.forwards, 0);
  ASSERT_TRUE(run.command<command::Renew>());
  run.stored(result::Ok{});
  EXPECT_EQ(run.forwards, 1);
}

TEST(Exchange, sends_nothing_when_that_renewal_is_fenced) {
  Driven run;
  run.now += 25s;
  run.stored(result::Claimed{});
  run.stored(result::Fenced{});
  run.feed(event::Found{std::nullopt});
  EXPECT_EQ(run.forwards, 0);
  EXPECT_TRUE(run.exchange.finished());
}

// The first was executed when its owner ended: what could not be stored must not be run a second time,
// unprotected.
TEST(Exchange, goes_unprotected_only_at_the_very_first_look_at_the_key) {
  Policy open = in_mode(InProgressMode::wait);
  open.on_store_failure = OnStoreFailure::open;
  Driven waited(open);
  waited.stored(result::InProgress{25s});
  waited.feed(event::OwnerSays{owner::NotHere{}});
  waited.feed(event::StoreFailed{StoreFailure::not_written});
  EXPECT_FALSE(waited.did<action::ProxyUnprotected>());
  ASSERT_TRUE(waited.shown);
  EXPECT_EQ(waited.shown->problem, Problem::store_unavailable);

  Driven in_doubt(open);
  in_doubt.feed(event::StoreFailed{StoreFailure::unavailable});
  in_doubt.wake();
  in_doubt.feed(event::StoreFailed{StoreFailure::not_written});
  EXPECT_FALSE(in_doubt.did<action::ProxyUnprotected>());
  ASSERT_TRUE(in_doubt.shown);
  in_doubt.wake();
  EXPECT_TRUE(in_doubt.command<command::Release>());  // the first of the two may have been written
}

TEST(Exchange, frees_its_claim_when_the_renewal_before_the_first_byte_is_refused) {
  Driven run;
  run.now += 25s;
  run.stored(result::Claimed{});
  run.feed(event::StoreFailed{StoreFailure::not_written});
  EXPECT_EQ(run.shown->problem, Problem::store_unavailable);
  ASSERT_FALSE(run.exchange.finished());
  run.wake();
  EXPECT_TRUE(run.command<command::Release>());
  EXPECT_EQ(run.forwards, 0);
}

TEST(Exchange, does_not_call_running_what_has_ended_without_an_answer) {
  for (const UpstreamOutcome& ended :
       {UpstreamOutcome(upstream::NotSent{"refused"}), UpstreamOutcome(upstream::Lost{"reset"})}) {
    Driven run;
    run.stored(result::Claimed{});
    run.upstream(ended);
    for (int i = 0; i < 100 && !run.shown; ++i) {
      run.feed(event::StoreFailed{StoreFailure::full});
      if (!run.shown) run.wake();
    }
    ASSERT_TRUE(run.shown);
    const bool sent = std::holds_alternative<upstream::Lost>(ended);
    EXPECT_EQ(run.shown->problem, sent ? Problem::outcome_unknown : Problem::upstream_unreachable);
    EXPECT_EQ(run.shown->outcome, sent ? Outcome::unknown : Outcome::not_executed);
    EXPECT_FALSE(run.exchange.finished());  // storing that goes on
  }
}

TEST(Exchange, promises_nothing_when_an_answer_could_not_be_stored_in_time) {
  Policy policy;
  policy.response_timeout = 1h;
  policy.completion_timeout = 1s;
  Driven run(policy);
  run.stored(result::Claimed{});
  run.upstream(kCreated);
  for (int i = 0; i < 100 && !run.exchange.finished(); ++i) {
    run.feed(event::StoreFailed{StoreFailure::full});
    run.wake();
  }
  ASSERT_TRUE(run.shown);
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
  EXPECT_FALSE(run.exchange.last_word());
}

TEST(Exchange, answers_its_caller_when_a_store_is_too_slow_to_say_who_fenced_it) {
  Policy policy;
  policy.response_timeout = 1h;
  policy.completion_timeout = 11s;
  Driven run(policy);
  run.stored(result::Claimed{});
  run.wake();
  run.stored(result::Fenced{});
  ASSERT_TRUE(run.did<action::Find>());
  run.wake();
  EXPECT_TRUE(run.exchange.finished());
  ASSERT_TRUE(run.shown);
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
}

TEST(Exchange, does_not_say_that_it_sent_nothing_when_it_cannot_read_who_fenced_it) {
  Driven run;
  run.stored(result::Claimed{});
  run.upstream(kCreated);
  run.stored(result::Fenced{});
  run.feed(event::StoreFailed{StoreFailure::not_written});
  ASSERT_TRUE(run.shown);
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
}

// Invariant I4: the key was freed by an operator and used for something else meanwhile.
TEST(Exchange, shows_a_fenced_owner_nothing_of_another_request) {
  for (const State state : {State::pending, State::completed}) {
    Driven run;
    run.stored(result::Claimed{});
    run.upstream(kCreated);
    run.stored(result::Fenced{});
    Record other;
    other.token = kStranger;
    other.fingerprint = {{7}, "v1"};
    other.state = state;
    other.answer = Answer{200, {}, "theirs"};
    run.feed(event::Found{other});
    EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
    EXPECT_EQ(run.shown->answer.body, "");
  }
}

TEST(Exchange, does_not_send_a_caller_back_to_a_record_that_only_an_operator_can_settle) {
  Driven run(with(OnUnknown::retry));
  run.stored(result::Unknown{kStranger, terms(OnUnknown::retry)});
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
  EXPECT_FALSE(run.shown->retryable);
}

TEST(Exchange, ignores_whatever_comes_after_its_end) {
  Driven run;
  run.stored(result::Replay{Answer{201, {}, ""}, std::nullopt});
  run.upstream(kCreated);
  run.feed(event::Woken{});
  run.stored(result::Claimed{});
  EXPECT_EQ(run.forwards, 0);
  EXPECT_FALSE(run.wake_at);
}

}  // namespace
}  // namespace stet
