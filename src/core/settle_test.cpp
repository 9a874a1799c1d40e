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

}  // namespace
}  // namespace stet
