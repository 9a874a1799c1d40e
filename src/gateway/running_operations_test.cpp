#include "gateway/running_operations.hpp"

#include <gtest/gtest.h>

namespace stet::gateway {
namespace {

using Limits = RunningOperations::Limits;

const OperationId kId = OperationId::of("scope", "key");
const RunningOperations::Of kThis{kId, Digest{1}};

RunningOperations::Tell into(std::vector<OwnerNews>& heard) {
  return [&heard](OwnerNews news) { heard.push_back(std::move(news)); };
}

TEST(RunningOperations, tells_every_waiter_the_owners_last_word) {
  RunningOperations running(Limits{});
  std::vector<OwnerNews> heard;
  running.begin(kId);
  ASSERT_TRUE(std::holds_alternative<RunningOperations::Ticket>(running.wait(kThis, into(heard))));
  ASSERT_TRUE(std::holds_alternative<RunningOperations::Ticket>(running.wait(kThis, into(heard))));
  Shown shown;
  shown.answer.status = 201;
  running.end(kThis, shown);
  ASSERT_EQ(heard.size(), 2u);
  for (const OwnerNews& news : heard) EXPECT_EQ(std::get<owner::Ended>(news).shown.answer.status, 201);
  EXPECT_EQ(running.waiters(), 0u);
  EXPECT_EQ(running.runs(kId), RunsHere::no);
}

TEST(RunningOperations, sends_waiters_back_to_the_store_when_the_owner_has_no_last_word) {
  RunningOperations running(Limits{});
  std::vector<OwnerNews> heard;
  running.begin(kId);
  running.wait(kThis, into(heard));
  running.end(kThis, std::nullopt);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<owner::NotHere>(heard[0]));
}

// The key was freed and is in use for something else before its waiter stood here: that answer is not the waiter's.
TEST(RunningOperations, tells_a_waiter_nothing_of_another_request_with_its_key) {
  RunningOperations running(Limits{});
  std::vector<OwnerNews> heard;
  running.begin(kId);
  running.wait({kId, Digest{2}}, into(heard));
  running.end(kThis, Shown{});
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<owner::NotHere>(heard[0]));
}

TEST(RunningOperations, says_that_an_operation_is_not_here) {
  RunningOperations running(Limits{});
  std::vector<OwnerNews> heard;
  EXPECT_TRUE(std::holds_alternative<RunningOperations::NotHere>(running.wait(kThis, into(heard))));
  EXPECT_TRUE(heard.empty());
}

TEST(RunningOperations, does_not_tell_who_has_left) {
  RunningOperations running(Limits{});
  std::vector<OwnerNews> heard;
  running.begin(kId);
  const auto waiting = running.wait(kThis, into(heard));
  running.leave(kId, std::get<RunningOperations::Ticket>(waiting));
  running.end(kThis, Shown{});
  EXPECT_TRUE(heard.empty());
  EXPECT_EQ(running.waiters(), 0u);
}

// shared cases: a stampede of waiters on one key must not take the process with it (E18).
TEST(RunningOperations, limits_waiters_for_each_operation_and_in_all) {
  RunningOperations running(Limits{.per_operation = 2, .in_all = 3});
  const OperationId other = OperationId::of("scope", "other");
  std::vector<OwnerNews> heard;
  running.begin(kId);
  running.begin(other);
  running.wait(kThis, into(heard));
  running.wait(kThis, into(heard));
  EXPECT_TRUE(std::holds_alternative<RunningOperations::TooMany>(running.wait(kThis, into(heard))));
  running.wait({other, {}}, into(heard));
  EXPECT_TRUE(std::holds_alternative<RunningOperations::TooMany>(running.wait({other, {}}, into(heard))));
  EXPECT_EQ(running.waiters(), 3u);
}

TEST(RunningOperations, stays_while_one_of_two_owners_runs) {
  RunningOperations running(Limits{});
  running.begin(kId);
  running.begin(kId);
  running.end(kThis, std::nullopt);
  EXPECT_EQ(running.runs(kId), RunsHere::yes);
  running.end(kThis, std::nullopt);
  EXPECT_EQ(running.runs(kId), RunsHere::no);
}

}  // namespace
}  // namespace stet::gateway
