#include "gateway/running_operations.hpp"

#include <gtest/gtest.h>

namespace stet::gateway {
namespace {

using Limits = RunningOperations::Limits;

const OperationId kId = OperationId::of("scope", "key");
const RunningOperations::Of kThis{kId, Digest{1}};

using As = RunningOperations::As;
using Part = RunningOperations::Part;
using Poll = RunningOperations::Poll;
using Polled = RunningOperations::Polled;
using Ticket = RunningOperations::Ticket;
using TooMany = RunningOperations::TooMany;

RunningOperations::Tell into(std::vector<OwnerNews>& heard) {
  return [&heard](RunningOperations::News news) { heard.push_back(std::move(news.news)); };
}

TEST(RunningOperations, tells_every_waiter_the_owners_last_word) {
  RunningOperations running(Limits{});
  std::vector<OwnerNews> heard;
  running.begin(kId);
  ASSERT_TRUE(std::holds_alternative<Ticket>(running.wait(kThis, into(heard))));
  ASSERT_TRUE(std::holds_alternative<Ticket>(running.wait(kThis, into(heard))));
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

TEST(RunningOperations, does_not_tell_who_has_left) {
  RunningOperations running(Limits{});
  std::vector<OwnerNews> heard;
  running.begin(kId);
  const auto waiting = running.wait(kThis, into(heard));
  running.leave(kId, std::get<Ticket>(waiting));
  running.end(kThis, Shown{});
  EXPECT_TRUE(heard.empty());
  EXPECT_EQ(running.waiters(), 0u);
}

// A stampede of waiters on one key must not take the process with it.
TEST(RunningOperations, limits_waiters_for_each_operation_and_in_all) {
  RunningOperations running(Limits{.per_operation = 2, .in_all = 3});
  const OperationId other = OperationId::of("scope", "other");
  std::vector<OwnerNews> heard;
  running.begin(kId);
  running.begin(other);
  running.wait(kThis, into(heard));
  running.wait(kThis, into(heard));
  EXPECT_TRUE(std::holds_alternative<TooMany>(running.wait(kThis, into(heard))));
  running.wait({other, {}}, into(heard));
  EXPECT_TRUE(std::holds_alternative<TooMany>(running.wait({other, {}}, into(heard))));
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

// ---- an owner elsewhere ----

// What one waiter of a crowd hears; `part` poll: it is asked to go on asking.
struct Crowd {
  struct Heard {
    std::size_t who;
    Part part;
  };
  explicit Crowd(RunningOperations& its_running) : running(its_running) {}
  RunningOperations::Waiting join(As as = As::waiter) {
    return running.wait(kThis, [this, who = joined++](RunningOperations::News news) {
      EXPECT_TRUE(std::holds_alternative<owner::NotHere>(news.news));
      heard.push_back({who, news.part});
    }, as);
  }
  RunningOperations& running;
  std::size_t joined = 0;
  std::vector<Heard> heard;
};

TEST(RunningOperations, lets_one_of_a_crowd_ask_the_store_and_tells_the_others_what_it_sees) {
  RunningOperations running(Limits{});
  Crowd crowd(running);
  EXPECT_TRUE(std::holds_alternative<Poll>(crowd.join()));
  EXPECT_EQ(running.runs(kId), RunsHere::no);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(std::holds_alternative<Ticket>(crowd.join()));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::holds_alternative<Poll>(crowd.join(As::poller)));
  EXPECT_EQ(running.waiters(), 6u);
  EXPECT_TRUE(crowd.heard.empty());
  running.stop_polling(kId, Polled::seen);
  EXPECT_EQ(crowd.heard.size(), 5u);
  for (const Crowd::Heard& heard : crowd.heard) EXPECT_EQ(heard.part, Part::none);
  EXPECT_EQ(running.waiters(), 0u);
  EXPECT_TRUE(std::holds_alternative<Poll>(crowd.join()));
}

TEST(RunningOperations, passes_the_asking_on_when_who_asked_has_left) {
  RunningOperations running(Limits{});
  Crowd crowd(running);
  for (int i = 0; i < 3; ++i) crowd.join();
  running.stop_polling(kId, Polled::left);
  ASSERT_EQ(crowd.heard.size(), 1u);
  EXPECT_EQ(crowd.heard[0].who, 1u);
  EXPECT_EQ(crowd.heard[0].part, Part::poll);
  EXPECT_EQ(running.waiters(), 2u);
  EXPECT_TRUE(std::holds_alternative<Ticket>(crowd.join()));      // somebody asks
  EXPECT_TRUE(std::holds_alternative<Poll>(crowd.join(As::poller)));  // and it still runs
  running.stop_polling(kId, Polled::left);
  EXPECT_EQ(crowd.heard.back().who, 2u);
  running.stop_polling(kId, Polled::seen);
  EXPECT_EQ(crowd.heard.back().who, 3u);
  EXPECT_EQ(crowd.heard.back().part, Part::none);
  EXPECT_EQ(running.waiters(), 0u);
}

TEST(RunningOperations, makes_waiters_for_a_gateway_elsewhere_those_of_an_owner_here) {
  RunningOperations running(Limits{});
  Crowd crowd(running);
  crowd.join();
  crowd.join();
  running.begin(kId);  // who asked has taken over
  running.stop_polling(kId, Polled::seen);
  EXPECT_TRUE(crowd.heard.empty());
  EXPECT_EQ(running.runs(kId), RunsHere::yes);
  EXPECT_EQ(running.waiters(), 1u);
  running.end(kThis, std::nullopt);
  EXPECT_EQ(crowd.heard.size(), 1u);
  EXPECT_EQ(running.waiters(), 0u);
}

TEST(RunningOperations, makes_who_asked_a_waiter_when_the_operation_has_begun_here) {
  RunningOperations running(Limits{});
  Crowd crowd(running);
  crowd.join();
  running.begin(kId);
  EXPECT_TRUE(std::holds_alternative<Ticket>(crowd.join(As::poller)));
  EXPECT_EQ(running.waiters(), 1u);
  running.end(kThis, std::nullopt);
  EXPECT_EQ(crowd.heard.size(), 1u);
  running.stop_polling(kId, Polled::left);  // too late: it is nobody's part any more
  EXPECT_EQ(running.waiters(), 0u);
}

TEST(RunningOperations, counts_who_asks_among_those_who_wait) {
  RunningOperations running(Limits{.per_operation = 2, .in_all = 3});
  Crowd crowd(running);
  crowd.join();
  crowd.join();
  EXPECT_TRUE(std::holds_alternative<TooMany>(crowd.join()));
  const OperationId other = OperationId::of("scope", "other");
  std::vector<OwnerNews> heard;
  EXPECT_TRUE(std::holds_alternative<Poll>(running.wait({other, {}}, into(heard))));
  EXPECT_TRUE(std::holds_alternative<TooMany>(running.wait({other, {}}, into(heard))));
  EXPECT_TRUE(std::holds_alternative<TooMany>(running.wait({OperationId::of("scope", "third"), {}}, into(heard))));
  EXPECT_EQ(running.waiters(), 3u);
}

}  // namespace
}  // namespace stet::gateway
