#include "stet/shown.hpp"

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(Shown, says_a_new_key_is_safe_only_where_the_contract_does) {
  for (const Problem p : {Problem::key_missing, Problem::key_invalid}) {
    EXPECT_TRUE(problem(p, Outcome::not_executed, "").new_key_safe);
  }
  for (const Problem p :
       {Problem::scope_undefined, Problem::in_progress, Problem::key_expired, Problem::key_reused,
        Problem::outcome_unknown, Problem::upstream_unreachable, Problem::store_unavailable,
        Problem::overloaded, Problem::still_running, Problem::answer_not_kept}) {
    EXPECT_FALSE(problem(p, Outcome::unknown, "").new_key_safe) << name(p);
  }
}

TEST(Shown, lets_an_unknown_outcome_be_retried_only_where_that_cannot_run_it_twice) {
  EXPECT_FALSE(outcome_unknown(OnUnknown::fail, 503).retryable);
  EXPECT_TRUE(outcome_unknown(OnUnknown::retry, std::nullopt).retryable);
  EXPECT_TRUE(outcome_unknown(OnUnknown::ask, std::nullopt).retryable);
}

TEST(Shown, tells_how_an_unknown_status_could_be_avoided) {
  EXPECT_NE(outcome_unknown(OnUnknown::fail, 503).detail.find("release = [503]"), std::string::npos);
}

// A gateway that died after its claim may not have sent a byte; who comes after it cannot know.
TEST(Shown, does_not_say_that_an_unknown_request_arrived) {
  for (const OnUnknown policy : {OnUnknown::fail, OnUnknown::retry, OnUnknown::ask}) {
    EXPECT_TRUE(outcome_unknown(policy, std::nullopt).detail.starts_with("The request may have reached"));
  }
}

TEST(Shown, presents_each_state_of_a_record) {
  Record record;
  record.token = {"s", "k", {}, 1};
  EXPECT_EQ(present(record).kind, ShownKind::accepted);
  record.state = State::unknown;
  EXPECT_EQ(present(record).problem, Problem::outcome_unknown);
  record.state = State::expired;
  EXPECT_EQ(present(record).problem, Problem::key_expired);
  record.state = State::completed;
  record.answer = Answer{204, {}, "", Kept::whole};
  EXPECT_EQ(present(record).kind, ShownKind::replay);  // an empty answer is an answer
  record.answer = Answer{201, {{"Location", "/c/1"}}, "", Kept::head_only};
  const Shown not_kept = present(record);
  EXPECT_EQ(not_kept.problem, Problem::answer_not_kept);
  EXPECT_EQ(not_kept.original_status, 201);
  EXPECT_EQ(not_kept.original_location, "/c/1");
  EXPECT_FALSE(not_kept.retryable);
  EXPECT_EQ(not_kept.id, record.id());
}

}  // namespace
}  // namespace stet
