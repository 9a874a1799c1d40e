#include "core/exchange_driven_for_test.hpp"

namespace stet {
namespace {

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

// It was just asking the store again.
TEST(Exchange, does_not_wait_on_for_a_caller_who_left_between_two_looks_at_the_store) {
  Driven waiter(in_mode(InProgressMode::wait));
  waiter.stored(result::InProgress{25s});
  waiter.feed(event::OwnerSays{owner::NotHere{}});
  ASSERT_TRUE(waiter.command<command::Claim>());
  waiter.feed(event::CallerLeft{});
  waiter.stored(result::InProgress{25s});
  EXPECT_FALSE(waiter.did<action::AwaitOwner>());
  EXPECT_TRUE(waiter.exchange.finished());
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

}  // namespace
}  // namespace stet
