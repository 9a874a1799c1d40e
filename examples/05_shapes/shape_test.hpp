#pragma once
// What the tests of the shapes share: a fresh database of either kind, and every request sent twice and at
// once.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <latch>
#include <thread>

#include "../sql/sql.hpp"
#include "outcome.hpp"

namespace shapes {

class ShapeTest : public testing::TestWithParam<sql::Engine> {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A connection of its own to this test's database.
  std::unique_ptr<sql::Connection> connect() const { return sql::open(url_); }
  sql::Connection& db() { return *db_; }
  void schema(const char* statements);
  std::int64_t number(const std::string& statement) { return db().run(statement).number(); }

  // Runs `request` on `count` connections at the same moment. A deadlock's loser is sent again.
  template <class T>
  std::vector<T> at_once(std::size_t count, const std::function<T(sql::Connection&)>& request) {
    std::vector<T> outcomes(count);
    std::vector<std::thread> threads;
    std::latch start(static_cast<std::ptrdiff_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        const auto own = connect();
        start.arrive_and_wait();
        outcomes[i] = again_after_deadlock<T>([&] { return request(*own); });
      });
    }
    for (std::thread& thread : threads) thread.join();
    return outcomes;
  }

  // Sent at once and then once more: all must be told the same.
  Outcome repeated(const std::function<Outcome(sql::Connection&)>& request) {
    std::vector<Outcome> outcomes = at_once<Outcome>(8, request);
    outcomes.push_back(request(db()));
    for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome, outcomes.front()) << outcome.detail;
    return outcomes.front();
  }

 private:
  template <class T>
  static T again_after_deadlock(const std::function<T()>& request) {
    for (;;) {
      try {
        return request();
      } catch (const sql::Error& error) {
        if (error.kind() != sql::Failure::again) throw;
      }
    }
  }

  std::string name_;  // of the file or database
  std::string url_;
  std::unique_ptr<sql::Connection> db_;
};

#define SHAPE_TEST_ON_BOTH_DATABASES(suite)                                   \
  INSTANTIATE_TEST_SUITE_P(                                                   \
      On, suite, testing::Values(sql::Engine::sqlite, sql::Engine::postgres), \
      [](const auto& made) { return made.param == sql::Engine::sqlite ? "SQLite" : "PostgreSQL"; })

}  // namespace shapes
