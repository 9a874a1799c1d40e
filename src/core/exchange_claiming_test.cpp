#include "core/exchange_driven_for_test.hpp"

namespace stet {
namespace {

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

TEST(Exchange, does_not_send_a_caller_back_to_a_record_that_only_an_operator_can_settle) {
  Driven run(with(OnUnknown::retry));
  run.stored(result::Unknown{kStranger, terms(OnUnknown::retry)});
  EXPECT_EQ(run.shown->problem, Problem::outcome_unknown);
  EXPECT_FALSE(run.shown->retryable);
}

}  // namespace
}  // namespace stet
