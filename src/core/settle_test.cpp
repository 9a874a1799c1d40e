#include <gtest/gtest.h>

#include "stet/decide.hpp"

namespace stet {
namespace {

using Write = Settlement::Write;
using Says = upstream::Answered::Says;

Policy route(OnUnknown on_unknown) {
  Policy policy;
  policy.terms.on_unknown = on_unknown;
  return policy;
}

UpstreamOutcome answered(int status, Says says = Says::nothing) {
  return upstream::Answered{Answer{status, {}, "body"}, says};
}

TEST(Settle, records_what_the_upstream_answered) {
  for (const int status : {200, 201, 204, 302, 400, 404, 409, 500, 501}) {
    const Settlement s = settle(answered(status), route(OnUnknown::fail), Earlier::none_unknown);
    EXPECT_EQ(s.write, Write::complete) << status;
    EXPECT_EQ(s.shown.outcome, Outcome::completed);
    EXPECT_EQ(s.shown.answer.status, status);
  }
}

// remitlend#1329 pinned a 503 for a day; autumn PR1851 released every 5xx after a side effect.
TEST(Settle, neither_pins_nor_releases_a_503) {
  const Settlement s = settle(answered(503), route(OnUnknown::fail), Earlier::none_unknown);
  EXPECT_EQ(s.write, Write::settle_unknown);
  EXPECT_EQ(s.shown.problem, Problem::outcome_unknown);
  EXPECT_EQ(s.shown.upstream_status, 503);
}

TEST(Settle, gives_an_unknown_attempt_back_where_another_may_run) {
  for (const OnUnknown policy : {OnUnknown::retry, OnUnknown::ask}) {
    EXPECT_EQ(settle(upstream::Lost{"cut"}, route(policy), Earlier::none_unknown).write, Write::give_back);
  }
  EXPECT_EQ(settle(upstream::Lost{"cut"}, route(OnUnknown::fail), Earlier::none_unknown).write,
            Write::settle_unknown);
}

TEST(Settle, releases_what_was_not_sent_and_says_so_only_when_no_attempt_was_ever_unknown) {
  const Settlement first =
      settle(upstream::NotSent{"refused"}, route(OnUnknown::retry), Earlier::none_unknown);
  EXPECT_EQ(first.write, Write::release);
  EXPECT_EQ(first.shown.outcome, Outcome::not_executed);
  EXPECT_TRUE(first.shown.new_key_safe);
  const Settlement later =
      settle(upstream::NotSent{"refused"}, route(OnUnknown::retry), Earlier::one_unknown);
  EXPECT_EQ(later.write, Write::release);
  EXPECT_EQ(later.shown.outcome, Outcome::unknown);
  EXPECT_FALSE(later.shown.new_key_safe);
}

TEST(Settle, believes_the_upstream_that_nothing_happened) {
  for (const int status : {401, 403, 407, 425, 429}) {
    const Settlement s = settle(answered(status), route(OnUnknown::fail), Earlier::none_unknown);
    EXPECT_EQ(s.write, Write::release) << status;
    EXPECT_EQ(s.shown.outcome, Outcome::not_executed);
    EXPECT_EQ(s.shown.answer.status, status);
  }
  for (const int status : {200, 400, 500, 503}) {
    EXPECT_EQ(
        settle(answered(status, Says::not_executed), route(OnUnknown::fail), Earlier::none_unknown).write,
        Write::release);
  }
}

TEST(Settle, does_not_record_a_refusal_that_may_be_the_upstreams_own_key_in_use) {
  const Settlement s = settle(answered(409), route(OnUnknown::retry), Earlier::one_unknown);
  EXPECT_EQ(s.write, Write::give_back);
  EXPECT_EQ(s.shown.outcome, Outcome::unknown);
  EXPECT_EQ(s.shown.answer.status, 409);
  EXPECT_EQ(settle(answered(201), route(OnUnknown::retry), Earlier::one_unknown).write, Write::complete);
}

// Veil#66, fiber PR4287: oversize answers skipped the store and ran again.
TEST(Settle, records_an_answer_that_is_too_large_without_its_body) {
  const Settlement s = settle(upstream::TooLarge{Answer{200, {}, ""}, Says::nothing}, route(OnUnknown::fail),
                              Earlier::none_unknown);
  EXPECT_EQ(s.write, Write::complete);
  EXPECT_EQ(s.shown.kind, ShownKind::stream);
  EXPECT_EQ(s.shown.answer.kept, Kept::head_only);
}

// Truxify#2869: a wrong one-time code's 400 was pinned.
TEST(Settle, follows_the_routes_own_lists) {
  Policy policy = route(OnUnknown::fail);
  policy.statuses.set_status(400, StatusMeaning::release);
  EXPECT_EQ(settle(answered(400), policy, Earlier::none_unknown).write, Write::release);
}

// ---- a joined record ----

TEST(Settle, frees_a_joined_record_when_no_answer_came_and_says_so_once_that_is_written) {
  const Settlement s = settle(upstream::Lost{"cut"}, route(OnUnknown::joined), Earlier::none_unknown);
  EXPECT_EQ(s.write, Write::release);
  EXPECT_EQ(s.holds, Settlement::Holds::once_written);
  EXPECT_EQ(s.shown.problem, Problem::upstream_unreachable);
  EXPECT_EQ(s.shown.outcome, Outcome::not_executed);
  EXPECT_TRUE(s.shown.retryable);
  EXPECT_TRUE(s.shown.new_key_safe);
}

TEST(Settle, looks_for_the_answer_that_a_joined_upstream_recorded_before_it_writes_one) {
  for (const int status : {200, 303, 400, 409, 500, 503}) {
    const Settlement s = settle(answered(status), route(OnUnknown::joined), Earlier::none_unknown);
    EXPECT_EQ(s.first, Settlement::First::look) << status;
    EXPECT_EQ(s.holds, Settlement::Holds::once_written) << status;
  }
}

TEST(Settle, records_a_success_that_a_joined_upstream_did_not_and_frees_what_else_it_did_not) {
  for (const int status : {200, 201, 204, 303}) {
    const Settlement s = settle(answered(status), route(OnUnknown::joined), Earlier::none_unknown);
    EXPECT_EQ(s.write, Write::complete) << status;
    EXPECT_EQ(s.shown.outcome, Outcome::completed);
  }
  for (const int status : {400, 404, 408, 409, 429, 500, 502, 503, 504}) {
    const Settlement s = settle(answered(status), route(OnUnknown::joined), Earlier::none_unknown);
    EXPECT_EQ(s.write, Write::release) << status;
    EXPECT_EQ(s.shown.outcome, Outcome::not_executed);
    EXPECT_EQ(s.shown.kind, ShownKind::answer);
    EXPECT_EQ(s.shown.answer.status, status);
  }
  EXPECT_EQ(settle(answered(200, Says::not_executed), route(OnUnknown::joined), Earlier::none_unknown).write,
            Write::release);
}

TEST(Settle, treats_a_large_answer_of_a_joined_upstream_like_any_other) {
  const auto large = [](int status) {
    return settle(upstream::TooLarge{Answer{status, {}, ""}, Says::nothing}, route(OnUnknown::joined),
                  Earlier::none_unknown);
  };
  EXPECT_EQ(large(200).write, Write::complete);
  EXPECT_EQ(large(200).shown.kind, ShownKind::stream);
  EXPECT_EQ(large(500).write, Write::release);
  EXPECT_EQ(large(500).first, Settlement::First::look);
}

TEST(Settle, knows_that_nothing_was_sent_before_it_is_written_also_of_a_joined_record) {
  const Settlement s = settle(upstream::NotSent{"refused"}, route(OnUnknown::joined), Earlier::none_unknown);
  EXPECT_EQ(s.write, Write::release);
  EXPECT_EQ(s.holds, Settlement::Holds::already);
  EXPECT_EQ(s.first, Settlement::First::write);
}

// Only a record that was joined from its claim on can be fenced into having done nothing.
TEST(Settle, shows_no_answer_before_it_is_kept_and_tells_at_once_that_there_is_none) {
  for (const OnUnknown policy : {OnUnknown::fail, OnUnknown::retry, OnUnknown::ask}) {
    EXPECT_EQ(settle(answered(201), route(policy), Earlier::none_unknown).holds,
              Settlement::Holds::once_written);
    EXPECT_EQ(settle(upstream::Lost{"cut"}, route(policy), Earlier::none_unknown).holds,
              Settlement::Holds::already);
    EXPECT_EQ(settle(answered(429), route(policy), Earlier::none_unknown).holds, Settlement::Holds::already);
    EXPECT_EQ(settle(answered(201), route(policy), Earlier::none_unknown).first, Settlement::First::write);
  }
}

}  // namespace
}  // namespace stet
