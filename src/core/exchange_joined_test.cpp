// A route whose upstream records the answer in the transaction of its rows (docs/protocol.md, "Joining
// routes").
#include "core/exchange_driven_for_test.hpp"

namespace stet {
namespace {

Policy joining() {
  return with(OnUnknown::joined, UpstreamPromise::joins);
}

Record joined_record(const Token& token, State state) {
  Record record = record_of(token, state);
  record.terms = terms(OnUnknown::joined);
  if (state == State::completed) {
    record.answer = Answer{201, {{"X-Ledger", "1"}}, "recorded"};
    record.expires_at = WallTime{9s};
  }
  return record;
}

TEST(ExchangeJoined, shows_what_its_upstream_recorded_and_not_what_it_said) {
  Driven run = forwarded(joining());
  run.upstream(kCreated);
  ASSERT_TRUE(run.did<action::Find>());
  run.feed(event::Found{joined_record(kOurs, State::completed)});
  ASSERT_TRUE(run.shown);
  EXPECT_EQ(run.shown->answer.body, "recorded");
  EXPECT_EQ(run.shown->outcome, Outcome::completed);
  EXPECT_EQ(run.shown->replayable_until, WallTime{9s});
  EXPECT_EQ(run.exchange.last_word()->outcome, Outcome::completed);
  EXPECT_TRUE(run.exchange.finished());
}

TEST(ExchangeJoined, shows_what_its_upstream_recorded_whatever_became_of_the_connection) {
  Driven run = forwarded(joining());
  run.upstream(upstream::Lost{"reset"});
  ASSERT_TRUE(run.command<command::Release>());
  run.stored(result::Fenced{});
  ASSERT_TRUE(run.did<action::Find>());
  run.feed(event::Found{joined_record(kOurs, State::completed)});
  EXPECT_EQ(run.shown->answer.body, "recorded");
  EXPECT_EQ(run.shown->outcome, Outcome::completed);
  EXPECT_EQ(run.exchange.last_word()->outcome, Outcome::completed);
}

// A 504 of a proxy in between, say, while the upstream has committed.
TEST(ExchangeJoined, shows_what_its_upstream_recorded_and_not_the_refusal_of_somebody_in_between) {
  Driven run = forwarded(joining());
  run.upstream(upstream::Answered{Answer{504, {}, "proxy"}, {}});
  ASSERT_TRUE(run.did<action::Find>());
  run.feed(event::Found{joined_record(kOurs, State::pending)});
  ASSERT_TRUE(run.command<command::Release>());  // not yet: it commits between this look and the fence
  run.stored(result::Fenced{});
  run.feed(event::Found{joined_record(kOurs, State::completed)});
  EXPECT_EQ(run.shown->answer.status, 201);
}

TEST(ExchangeJoined, says_not_executed_once_the_attempt_is_fenced_and_not_before) {
  Driven run = forwarded(joining());
  run.upstream(upstream::Lost{"reset"});
  EXPECT_FALSE(run.shown);
  run.stored(result::Ok{});
  EXPECT_EQ(run.shown->problem, Problem::upstream_unreachable);
  EXPECT_EQ(run.shown->outcome, Outcome::not_executed);
  EXPECT_TRUE(run.shown->new_key_safe);
  EXPECT_EQ(run.exchange.last_word()->outcome, Outcome::not_executed);  // for those who wait here
}

// The upstream holds the record between stet.complete and COMMIT: the store refuses to touch it.
TEST(ExchangeJoined, calls_an_attempt_running_while_its_upstream_holds_the_record) {
  for (const UpstreamOutcome& ended : {UpstreamOutcome(upstream::Lost{"reset"}),
                                       UpstreamOutcome(upstream::Answered{Answer{500, {}, ""}, {}})}) {
    Driven run = forwarded(joining());
    run.upstream(ended);
    if (run.did<action::Find>()) run.feed(event::Found{joined_record(kOurs, State::pending)});
    ASSERT_TRUE(run.command<command::Release>());
    run.fail_until_shown(StoreFailure::unavailable);
    EXPECT_EQ(run.shown->problem, Problem::still_running);
    EXPECT_EQ(run.shown->outcome, Outcome::in_progress);
    EXPECT_FALSE(run.exchange.finished());
    run.wake();
    ASSERT_TRUE(run.command<command::Release>());
    run.stored(result::Fenced{});  // it has committed
    run.feed(event::Found{joined_record(kOurs, State::completed)});
    EXPECT_EQ(run.exchange.last_word()->answer.body, "recorded");
  }
}

TEST(ExchangeJoined, loses_no_lease_to_an_upstream_that_holds_the_record) {
  Policy policy = joining();
  policy.lease = 3s;
  Driven run = forwarded(policy);
  const MonoTime began = run.now;
  run.upstream(upstream::Lost{"reset"});
  MonoTime leased_until = began + policy.lease;
  while (run.now < began + 10s) {
    run.feed(event::StoreFailed{StoreFailure::unavailable});
    run.wake();
    if (run.command<command::Renew>()) {
      EXPECT_LT(run.now, leased_until);
      leased_until = run.now + policy.lease;
      run.stored(result::Ok{});
      ASSERT_TRUE(run.command<command::Release>());
    }
  }
  EXPECT_GT(leased_until, began + 10s);
}

TEST(ExchangeJoined, claims_nothing_of_a_fence_that_could_not_be_written_in_time) {
  Policy policy = joining();
  policy.response_timeout = 1h;
  policy.completion_timeout = 1s;
  Driven run = forwarded(policy);
  run.upstream(upstream::Lost{"reset"});
  for (int i = 0; i < 200 && !run.exchange.finished(); ++i) {
    if (!run.command<command::Renew>()) {
      run.feed(event::StoreFailed{StoreFailure::unavailable});
    } else {
      run.stored(result::Ok{});
    }
    if (!run.exchange.finished()) run.wake();
  }
  ASSERT_TRUE(run.shown);
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
  EXPECT_EQ(run.shown->outcome, Outcome::unknown);
  EXPECT_TRUE(run.shown->retryable);
  EXPECT_FALSE(run.shown->new_key_safe);
  EXPECT_FALSE(run.exchange.last_word());
}

TEST(ExchangeJoined, says_unknown_of_a_fence_that_it_cannot_tell_from_a_strangers) {
  Driven run = forwarded(joining());
  run.upstream(upstream::Lost{"reset"});
  run.feed(event::StoreFailed{StoreFailure::unavailable});  // its reply was lost
  run.wake();
  run.stored(result::Fenced{});
  run.feed(event::Found{std::nullopt});
  EXPECT_EQ(run.shown->outcome, Outcome::unknown);
  EXPECT_TRUE(run.shown->retryable);
}

Nonce another_nonce() {
  static std::uint8_t last = 0;
  return Nonce{{++last}};
}

// A claim or a take-over whose reply was lost may still be on its way. If it arrives after the key was freed,
// it makes its token good again: one that no upstream has.
void gives_its_upstream_another_token(Driven& run, Nonce in_doubt, std::uint32_t attempt) {
  run.stored(result::Claimed{attempt, "half", false});
  ASSERT_TRUE(run.command<command::Renew>());
  EXPECT_EQ(run.command<command::Renew>()->token.nonce, in_doubt);
  EXPECT_EQ(run.command<command::Renew>()->lease, 0ms);
  EXPECT_EQ(run.forwards, 0);
  const Token seen = run.command<command::Renew>()->token;
  run.stored(result::Ok{});
  ASSERT_TRUE(run.command<command::Claim>());
  EXPECT_NE(run.command<command::Claim>()->nonce, in_doubt);
  run.stored(result::Lapsed{seen, terms(OnUnknown::joined), false});
  ASSERT_TRUE(run.command<command::TakeOver>());
  run.stored(result::Claimed{attempt + 1, "half", false});
  ASSERT_TRUE(run.did<action::Forward>());
  EXPECT_NE(run.did<action::Forward>()->token.nonce, in_doubt);
  EXPECT_EQ(run.did<action::Forward>()->token.attempt, attempt + 1);
  run.upstream(upstream::Lost{"reset"});
  run.stored(result::Ok{});
  EXPECT_EQ(run.shown->outcome, Outcome::not_executed);
  EXPECT_TRUE(run.shown->new_key_safe);
}

TEST(ExchangeJoined, gives_its_upstream_no_token_that_a_belated_claim_could_bring_back) {
  Driven run(joining(), &another_nonce);
  const Nonce in_doubt = run.command<command::Claim>()->nonce;
  run.feed(event::StoreFailed{StoreFailure::unavailable});
  run.wake();
  EXPECT_EQ(run.command<command::Claim>()->nonce, in_doubt);
  gives_its_upstream_another_token(run, in_doubt, 1);
}

TEST(ExchangeJoined, gives_its_upstream_no_token_that_a_belated_take_over_could_bring_back) {
  Driven run(joining(), &another_nonce);
  run.stored(result::Lapsed{kStranger, terms(OnUnknown::joined), false});
  const Nonce in_doubt = run.command<command::TakeOver>()->nonce;
  run.feed(event::StoreFailed{StoreFailure::unavailable});
  run.wake();
  gives_its_upstream_another_token(run, in_doubt, kStranger.attempt + 1);
}

TEST(ExchangeJoined, leaves_what_it_gave_up_to_whoever_was_faster) {
  Driven run(joining(), &another_nonce);
  run.feed(event::StoreFailed{StoreFailure::unavailable});
  run.wake();
  run.stored(result::Claimed{});
  run.stored(result::Ok{});
  run.stored(result::InProgress{3s});
  EXPECT_EQ(run.shown->problem, Problem::in_progress);
  EXPECT_EQ(run.forwards, 0);
}

TEST(ExchangeJoined, knows_that_nothing_was_sent_whether_or_not_the_store_does) {
  Driven run = forwarded(joining());
  run.upstream(upstream::NotSent{"refused"});
  ASSERT_TRUE(run.command<command::Release>());
  run.fail_until_shown(StoreFailure::unavailable);
  EXPECT_EQ(run.shown->outcome, Outcome::not_executed);
}

TEST(ExchangeJoined, records_a_success_that_its_upstream_did_not_record) {
  Driven run = forwarded(joining());
  run.upstream(kCreated);
  run.feed(event::Found{joined_record(kOurs, State::pending)});
  ASSERT_TRUE(run.command<command::Complete>());
  run.stored(result::Ok{});
  EXPECT_EQ(run.shown->outcome, Outcome::completed);
  EXPECT_EQ(run.shown->answer.body, "{}");
}

TEST(ExchangeJoined, frees_the_key_after_a_refusal_that_its_upstream_did_not_record) {
  Driven run = forwarded(joining());
  run.upstream(upstream::Answered{Answer{422, {}, "no"}, {}});
  run.feed(event::Found{joined_record(kOurs, State::pending)});
  ASSERT_TRUE(run.command<command::Release>());
  run.stored(result::Ok{});
  EXPECT_EQ(run.shown->answer.status, 422);
  EXPECT_EQ(run.shown->outcome, Outcome::not_executed);
}

TEST(ExchangeJoined, gives_its_own_caller_the_body_that_was_recorded_without) {
  Record record = joined_record(kOurs, State::completed);
  record.answer = Answer{201, {}, "", Kept::head_only};
  Driven run = forwarded(joining());
  run.upstream(upstream::TooLarge{Answer{201, {}, ""}, {}});
  run.feed(event::Found{record});
  EXPECT_EQ(run.shown->kind, ShownKind::stream);
  EXPECT_EQ(run.shown->outcome, Outcome::completed);
  EXPECT_EQ(run.shown->replayable_until, WallTime{9s});

  Driven other = forwarded(joining());
  other.upstream(upstream::TooLarge{Answer{500, {}, ""}, {}});  // not the answer that was recorded
  other.feed(event::Found{record});
  EXPECT_EQ(other.shown->problem, Problem::answer_not_kept);
  EXPECT_EQ(other.shown->outcome, Outcome::completed);
}

// ---- others ----

TEST(ExchangeJoined, counts_an_attempt_that_it_took_over_as_one_that_did_nothing) {
  Driven run(joining());
  run.stored(result::Lapsed{kStranger, terms(OnUnknown::joined), false});
  ASSERT_TRUE(run.command<command::TakeOver>());
  run.stored(result::Claimed{5, "", false});
  EXPECT_EQ(run.did<action::Forward>()->token.attempt, 5u);
  run.upstream(upstream::Lost{"reset"});
  run.stored(result::Ok{});
  EXPECT_EQ(run.shown->outcome, Outcome::not_executed);
  EXPECT_TRUE(run.shown->new_key_safe);
}

TEST(ExchangeJoined, settles_as_an_observer_where_the_route_does_not_join_any_more) {
  Driven run;
  run.stored(result::Lapsed{kStranger, terms(OnUnknown::joined), false});
  ASSERT_TRUE(run.command<command::SettleUnknown>());
  EXPECT_EQ(run.command<command::SettleUnknown>()->by, command::SettleUnknown::By::observer);
  EXPECT_EQ(run.forwards, 0);
}

TEST(ExchangeJoined, waits_where_the_zombie_holds_the_record_that_it_would_take_over) {
  Driven run(joining());
  run.stored(result::Lapsed{kStranger, terms(OnUnknown::joined), false});
  run.stored(result::InProgress{300ms});
  EXPECT_EQ(run.shown->problem, Problem::in_progress);
  EXPECT_EQ(run.forwards, 0);
}

TEST(ExchangeJoined, stops_listening_when_it_finds_that_its_upstream_has_recorded_the_answer) {
  Driven run = forwarded(joining());
  run.wake();
  ASSERT_TRUE(run.command<command::Renew>());
  run.stored(result::Fenced{});
  EXPECT_FALSE(run.did<action::StopListening>());
  ASSERT_TRUE(run.did<action::Find>());
  run.feed(event::Found{joined_record(kOurs, State::completed)});
  EXPECT_TRUE(run.did<action::StopListening>());
  EXPECT_EQ(run.shown->answer.body, "recorded");
  EXPECT_EQ(run.shown->outcome, Outcome::completed);
}

TEST(ExchangeJoined, shows_the_answer_of_the_attempt_that_took_over_as_a_replay) {
  Driven run = forwarded(joining());
  run.upstream(upstream::Lost{"reset"});
  run.stored(result::Fenced{});
  run.feed(event::Found{joined_record(kStranger, State::completed)});
  EXPECT_EQ(run.shown->outcome, Outcome::replayed);
  EXPECT_EQ(run.shown->answer.body, "recorded");
}

}  // namespace
}  // namespace stet
