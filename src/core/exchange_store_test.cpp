#include "core/exchange_driven_for_test.hpp"

namespace stet {
namespace {

TEST(Exchange, stores_the_outcome_even_when_the_renewal_before_it_failed) {
  Driven run = forwarded();
  run.wake();
  run.upstream(kCreated);
  run.feed(event::StoreFailed{StoreFailure::unavailable});
  run.wake();
  EXPECT_TRUE(run.command<command::Complete>());
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
  run.fail_until_shown(StoreFailure::unavailable);
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
  Driven run = forwarded();
  run.upstream(kCreated);
  const MonoTime answered = run.now;
  run.fail_until_shown(StoreFailure::full);
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
    Driven run = forwarded();
    run.upstream(ended);
    run.fail_until_shown(StoreFailure::full);
    const bool sent = std::holds_alternative<upstream::Lost>(ended);
    EXPECT_EQ(run.shown->problem, sent ? Problem::outcome_unknown : Problem::upstream_unreachable);
    EXPECT_EQ(run.shown->outcome, sent ? Outcome::unknown : Outcome::not_executed);
    EXPECT_FALSE(run.exchange.finished());  // storing that goes on
  }
}

TEST(Exchange, promises_nothing_when_an_answer_could_not_be_stored_in_time) {
  Driven run = forwarded(in_time(1h, 1s));
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
  Driven run = forwarded(in_time(1h, 11s));
  run.wake();
  run.stored(result::Fenced{});
  ASSERT_TRUE(run.did<action::Find>());
  run.wake();
  EXPECT_TRUE(run.did<action::StopListening>());
  run.wake();
  EXPECT_TRUE(run.exchange.finished());
  ASSERT_TRUE(run.shown);
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
}

TEST(Exchange, does_not_say_that_it_sent_nothing_when_it_cannot_read_who_fenced_it) {
  Driven run = forwarded();
  run.upstream(kCreated);
  run.stored(result::Fenced{});
  run.feed(event::StoreFailed{StoreFailure::not_written});
  ASSERT_TRUE(run.shown);
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
}

}  // namespace
}  // namespace stet
