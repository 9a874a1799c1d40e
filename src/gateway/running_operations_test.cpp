#include "gateway/running_operations.hpp"

#include <gtest/gtest.h>

namespace stet::gateway {
namespace {

using Limits = RunningOperations::Limits;

const OperationId kId = OperationId::of("scope", "key");

RunningOperations::Tell into(std::vector<OwnerNews>& heard) {
  return [&heard](OwnerNews news) { heard.push_back(std::move(news)); };
}

TEST(RunningOperations, tells_every_waiter_the_owners_last_word) {
  RunningOperations running(Limits{});
  std::vector<OwnerNews> heard;
  running.begin(kId);
  ASSERT_TRUE(std::holds_alternative<RunningOperations::Ticket>(running.wait(kId, into(heard))));
  ASSERT_TRUE(std::holds_alternative<RunningOperations::Ticket>(running.wait(kId, into(heard))));
  Shown shown;
  shown.answer.status = 201;
  running.end(kId, shown);
  ASSERT_EQ(heard.size(), 2u);
  for (const OwnerNews& news : heard) EXPECT_EQ(std::get<owner::Ended>(news).shown.answer.status, 201);
  EXPECT_EQ(running.waiters(), 0u);
  EXPECT_EQ(running.runs(kId), RunsHere::no);
}

TEST(RunningOperations, sends_waiters_back_to_the_store_when_the_owner_has_no_last_word) {
  RunningOperations running(Limits{});
  std::vector<OwnerNews> heard;
  running.begin(kId);
  running.wait(kId, into(heard));
  running.end(kId, std::nullopt);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<owner::NotHere>(heard[0]));
}

TEST(RunningOperations, says_that_an_operation_is_not_here) {
  RunningOperations running(Limits{});
  std::vector<OwnerNews> heard;
  EXPECT_TRUE(std::holds_alternative<RunningOperations::NotHere>(running.wait(kId, into(heard))));
  EXPECT_TRUE(heard.empty());
}

TEST(RunningOperations, does_not_tell_who_has_left) {
  RunningOperations running(Limits{});
  std::vector<OwnerNews> heard;
  running.begin(kId);
  const auto waiting = running.wait(kId, into(heard));
  running.leave(kId, std::get<RunningOperations::Ticket>(waiting));
  running.end(kId, Shown{});
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
  running.wait(kId, into(heard));
  running.wait(kId, into(heard));
  EXPECT_TRUE(std::holds_alternative<RunningOperations::TooMany>(running.wait(kId, into(heard))));
  running.wait(other, into(heard));
  EXPECT_TRUE(std::holds_alternative<RunningOperations::TooMany>(running.wait(other, into(heard))));
  EXPECT_EQ(running.waiters(), 3u);
}

TEST(RunningOperations, stays_while_one_of_two_owners_runs) {
  RunningOperations running(Limits{});
  running.begin(kId);
  running.begin(kId);
  running.end(kId, std::nullopt);
  EXPECT_EQ(running.runs(kId), RunsHere::yes);
  running.end(kId, std::nullopt);
  EXPECT_EQ(running.runs(kId), RunsHere::no);
}

}  // namespace
}  // namespace stet::gateway
