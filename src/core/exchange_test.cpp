#include <gmock/gmock.h>

#include "core/exchange_driven_for_test.hpp"

namespace stet {
namespace {

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

TEST(Exchange, renews_at_every_third_of_the_lease_while_the_upstream_works) {
  Driven run = forwarded();
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
  Driven run = forwarded(in_time(5s, 10min));
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
  Driven run = forwarded(in_time(1h, 5s));
  run.wake();
  EXPECT_TRUE(run.did<action::StopListening>());
  EXPECT_TRUE(run.command<command::SettleUnknown>());
  run.stored(result::Ok{});
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
}

TEST(Exchange, holds_the_outcome_while_a_renewal_is_in_flight_so_that_one_command_is) {
  Driven run = forwarded();
  run.wake();
  ASSERT_TRUE(run.command<command::Renew>());
  run.upstream(kCreated);
  EXPECT_FALSE(run.command<command::Complete>());
  run.stored(result::Ok{});
  EXPECT_TRUE(run.command<command::Complete>());
}

TEST(Exchange, shows_what_the_store_holds_and_not_its_own_answer_once_fenced) {
  Driven run = forwarded();
  run.upstream(kCreated);
  run.stored(result::Fenced{});
  ASSERT_TRUE(run.did<action::Find>());
  run.feed(event::Found{completed_record(kStranger, "theirs")});
  EXPECT_EQ(run.shown->answer.body, "theirs");
}

TEST(Exchange, says_unknown_when_fenced_by_a_record_that_has_gone) {
  Driven run = forwarded();
  run.upstream(kCreated);
  run.stored(result::Fenced{});
  run.feed(event::Found{std::nullopt});
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
  // Nothing holds the key any more, so no promise is made of it.
  EXPECT_THAT(run.shown->detail, ::testing::HasSubstr("would run again"));
  EXPECT_THAT(run.shown->detail, ::testing::Not(::testing::HasSubstr("will not be run again")));
}

TEST(Exchange, stops_listening_when_another_attempt_has_taken_over) {
  Driven run = forwarded();
  run.wake();
  run.stored(result::Fenced{});
  run.feed(event::Found{record_of(kStranger)});
  EXPECT_TRUE(run.did<action::StopListening>());
  EXPECT_EQ(run.shown->problem, Problem::in_progress);
  EXPECT_TRUE(run.exchange.finished());
}

// Another gateway found the lease over while this one was slow. Nobody has run it since, and nobody will.
struct SettledMeanwhile : Driven {
  SettledMeanwhile() {
    stored(result::Claimed{});
    wake();
    stored(result::Fenced{});
  }
  Record ours = record_of(kOurs, State::unknown);
};

TEST(Exchange, goes_on_listening_when_its_own_attempt_was_settled_and_completes_it_late) {
  SettledMeanwhile run;
  run.feed(event::Found{run.ours});
  EXPECT_FALSE(run.did<action::StopListening>());
  EXPECT_FALSE(run.shown);
  run.wake();
  EXPECT_FALSE(run.command<command::Renew>());  // there is no lease any more
  EXPECT_EQ(run.shown->problem, Problem::still_running);
  run.upstream(kCreated);
  ASSERT_TRUE(run.command<command::Complete>());
  run.stored(result::Ok{});
  EXPECT_EQ(run.exchange.last_word()->answer.status, 201);
}

TEST(Exchange, completes_with_an_answer_that_came_while_it_looked_who_had_fenced_it) {
  SettledMeanwhile run;
  run.upstream(kCreated);
  EXPECT_FALSE(run.command<command::Complete>());
  run.feed(event::Found{run.ours});
  EXPECT_TRUE(run.command<command::Complete>());
}

TEST(Exchange, shows_a_settled_attempt_as_unknown_for_good_when_no_answer_comes_either) {
  SettledMeanwhile run;
  run.feed(event::Found{run.ours});
  run.upstream(upstream::Answered{Answer{429, {}, ""}, {}});
  ASSERT_TRUE(run.command<command::Release>());
  run.stored(result::Fenced{});
  run.feed(event::Found{run.ours});
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
  EXPECT_FALSE(run.shown->retryable);
}

TEST(Exchange, renews_again_when_it_could_not_read_who_had_fenced_it) {
  SettledMeanwhile run;
  run.feed(event::StoreFailed{StoreFailure::unavailable});
  EXPECT_FALSE(run.did<action::StopListening>());
  run.wake();
  EXPECT_TRUE(run.command<command::Renew>());
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

// Invariant I4: the key was freed by an operator and used for something else meanwhile.
TEST(Exchange, shows_a_fenced_owner_nothing_of_another_request) {
  for (const State state : {State::pending, State::completed}) {
    Driven run = forwarded();
    run.upstream(kCreated);
    run.stored(result::Fenced{});
    Record other = completed_record(kStranger, "theirs");
    other.fingerprint = {{7}, "v1"};
    other.state = state;
    run.feed(event::Found{other});
    EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
    EXPECT_EQ(run.shown->answer.body, "");
  }
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
