#include "admin/metrics.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace stet::admin {
namespace {

using namespace std::chrono_literals;

bool has_line(const Metrics& metrics, const std::string& line) {
  const std::string text = "\n" + metrics.text();
  return text.find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, counts_requests_by_route_and_outcome) {
  Metrics metrics;
  RouteMetrics& route = metrics.route("POST /charges");
  route.answered(Outcome::completed);
  route.answered(Outcome::replayed);
  route.answered(Outcome::replayed);
  route.refused(Problem::key_reused);
  EXPECT_TRUE(has_line(metrics, R"(stet_requests_total{route="POST /charges",outcome="completed"} 1)"));
  EXPECT_TRUE(has_line(metrics, R"(stet_requests_total{route="POST /charges",outcome="replayed"} 2)"));
  EXPECT_TRUE(has_line(metrics, R"(stet_requests_total{route="POST /charges",outcome="unknown"} 0)"));
  EXPECT_TRUE(has_line(metrics, R"(stet_problems_total{route="POST /charges",problem="key-reused"} 1)"));
}

TEST(Metrics, keeps_a_routes_counters_over_a_reload) {
  Metrics metrics;
  RouteMetrics& before = metrics.route("POST /charges");
  metrics.route("POST /refunds");
  EXPECT_EQ(&metrics.route("POST /charges"), &before);
}

TEST(Metrics, counts_what_a_store_answered_by_command_and_result) {
  Metrics metrics;
  const std::vector<Command> commands{command::Claim{}, command::Claim{}, command::Complete{},
                                      command::Claim{}};
  const std::vector<Store::Outcome> outcomes{Result{result::Claimed{}}, Result{result::Mismatch{}},
                                             Result{result::Fenced{}},
                                             Store::Failed{StoreFailure::full, "no room"}};
  metrics.store.batch(commands, outcomes, 3ms);
  EXPECT_TRUE(has_line(metrics, R"(stet_store_commands_total{command="claim",result="claimed"} 1)"));
  EXPECT_TRUE(has_line(metrics, R"(stet_store_commands_total{command="claim",result="mismatch"} 1)"));
  EXPECT_TRUE(has_line(metrics, R"(stet_store_commands_total{command="complete",result="fenced"} 1)"));
  EXPECT_TRUE(has_line(metrics, R"(stet_store_errors_total{kind="full"} 1)"));
  EXPECT_TRUE(has_line(metrics, "stet_store_batches_total 1"));
  EXPECT_TRUE(has_line(metrics, R"(stet_store_batch_commands_bucket{le="4"} 1)"));
  EXPECT_TRUE(has_line(metrics, R"(stet_store_commit_duration_seconds_bucket{le="0.005"} 1)"));
}

TEST(Metrics, shows_a_halted_sweep_until_one_has_gone_through) {
  Metrics metrics;
  const std::vector<Command> sweep{command::Sweep{}};
  metrics.store.batch(
      sweep, std::vector<Store::Outcome>{Result{result::Swept{0, 0, result::SweepClock::jumped}}}, 1ms);
  EXPECT_TRUE(has_line(metrics, "stet_sweep_halted 1"));
  metrics.store.batch(
      sweep, std::vector<Store::Outcome>{Result{result::Swept{5, 2, result::SweepClock::sane}}}, 1ms);
  EXPECT_TRUE(has_line(metrics, "stet_sweep_halted 0"));
  EXPECT_TRUE(has_line(metrics, "stet_sweep_expired_total 5"));
  EXPECT_TRUE(has_line(metrics, "stet_sweep_removed_total 2"));
}

TEST(Metrics, holds_a_gauge_up_for_as_long_as_something_lives) {
  Metrics metrics;
  {
    Held first(metrics.process.in_flight);
    Held second = std::move(first);
    EXPECT_EQ(metrics.process.in_flight.value(), 1);
    second = Held(metrics.process.waiters, 3);
    EXPECT_EQ(metrics.process.in_flight.value(), 0);
    EXPECT_EQ(metrics.process.waiters.value(), 3);
  }
  EXPECT_EQ(metrics.process.waiters.value(), 0);
}

TEST(Metrics, loses_no_increment_of_many_threads) {
  Metrics metrics;
  RouteMetrics& route = metrics.route("r");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        route.answered(Outcome::completed);
        route.request_duration.observe(1ms);
      }
    });
  }
  metrics.text();
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(has_line(metrics, R"(stet_requests_total{route="r",outcome="completed"} 40000)"));
  EXPECT_TRUE(has_line(metrics, R"(stet_request_duration_seconds_count{route="r"} 40000)"));
  EXPECT_TRUE(has_line(metrics, R"(stet_request_duration_seconds_sum{route="r"} 40)"));
}

TEST(Metrics, has_every_name_once_under_its_own_prefix) {
  Metrics metrics;
  metrics.route("r");
  metrics.watch_dropped_lines([] { return std::uint64_t{4}; });
  EXPECT_TRUE(has_line(metrics, "stet_log_dropped_lines_total 4"));
  const std::string text = metrics.text();
  std::size_t types = 0;
  for (std::size_t at = text.find("# TYPE "); at != std::string::npos; at = text.find("# TYPE ", at + 1)) {
    const std::string name = text.substr(at + 7, text.find(' ', at + 7) - at - 7);
    EXPECT_EQ(name.rfind("stet_", 0), 0U) << name;
    EXPECT_EQ(text.find("# TYPE " + name + " "), text.rfind("# TYPE " + name + " ")) << name;
    ++types;
  }
  EXPECT_GT(types, 30U);
  EXPECT_EQ(text.back(), '\n');
}

}  // namespace
}  // namespace stet::admin
