// Many connections on the same keys, and other people's transactions.

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "stores/commands_for_test.hpp"
#include "stores/postgres/database_for_test.hpp"

namespace stet::stores::postgres {
namespace {

using namespace std::chrono_literals;

// A transaction of somebody else's, open until it ends.
class Foreign {
 public:
  Foreign(const TestDatabase& database, const std::string& sql) : connection_(database.connect()) {
    connection_.run(("BEGIN; " + sql).c_str());
  }
  void commit() { connection_.run("COMMIT"); }

 private:
  Connection connection_;
};

std::string bytes(const std::string& text) {
  return "convert_to('" + text + "', 'UTF8')";
}

TEST(Contention, grants_each_key_once_to_sixty_four_connections_without_a_deadlock) {
  constexpr int kConnections = 64;
  constexpr int kKeys = 40;
  const TestDatabase database;
  Options options;
  options.connections = kConnections;
  options.operation_time = 20s;
  const auto stores = open(database.url(), options);
  std::mutex mutex;
  std::map<std::string, int> granted;
  std::map<std::string, int> completed;
  std::vector<std::thread> threads;
  for (int t = 0; t < kConnections; ++t) {
    threads.emplace_back([&, t] {
      std::minstd_rand random(static_cast<unsigned>(t) + 1);
      for (int round = 0; round < 6; ++round) {
        std::vector<Command> batch;
        for (int i = 0; i < 20; ++i) batch.emplace_back(claim_of("key " + std::to_string(random() % kKeys)));
        std::vector<Command> ours;
        try {
          const auto outcomes = stores[static_cast<std::size_t>(t)]->execute(batch);
          for (std::size_t i = 0; i < batch.size(); ++i) {
            EXPECT_EQ(failure(outcomes[i]), std::nullopt);
            if (as<result::Claimed>(outcomes[i]) == nullptr) continue;
            const auto& claim = std::get<command::Claim>(batch[i]);
            const std::lock_guard lock(mutex);
            ++granted[claim.key];
            ours.emplace_back(completion_of(claim));
          }
          std::shuffle(ours.begin(), ours.end(), random);
          for (const auto& outcome : stores[static_cast<std::size_t>(t)]->execute(ours)) {
            const std::lock_guard lock(mutex);
            EXPECT_NE(as<result::Ok>(outcome), nullptr);
            ++completed["all"];
          }
        } catch (const StoreError& error) {
          ADD_FAILURE() << error.what();
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& [key, times] : granted) EXPECT_EQ(times, 1) << key;
  EXPECT_EQ(completed["all"], static_cast<int>(granted.size()));
  EXPECT_EQ(database.sql("SELECT count(*) FROM stet.operations WHERE state = 1"),
            std::to_string(granted.size()));
  EXPECT_EQ(database.sql("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"), "0");
}

// Whoever waits for a lock waits for long.
Options patient() {
  Options options;
  options.operation_time = 30s;
  return options;
}

// An upstream between its stet.complete and its commit must not stall the other keys of a batch.
TEST(Contention, waits_for_no_row_that_another_transaction_holds) {
  const TestDatabase database;
  const auto store = open_one(database, patient());
  const auto held = claim_of("held");
  const auto free = claim_of("free");
  run(*store, held);
  run(*store, free);
  Foreign upstream(database, "SELECT 1 FROM stet.operations WHERE key = " + bytes("held") + " FOR UPDATE");
  const std::vector<Command> batch{completion_of(held), completion_of(free), claim_of("new"),
                                   command::Renew{token_of(held), 30s}};
  const auto begin = std::chrono::steady_clock::now();
  auto outcomes = store->execute(batch);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_EQ(failure(outcomes[0]), StoreFailure::unavailable);
  EXPECT_NE(as<result::Ok>(outcomes[1]), nullptr);
  EXPECT_NE(as<result::Claimed>(outcomes[2]), nullptr);
  EXPECT_NE(as<result::Ok>(outcomes[3]), nullptr) << "a renewal does not touch the row that is held";
  EXPECT_NE(as<result::InProgress>(run(*store, claim_of("held"))), nullptr);
  upstream.commit();
  EXPECT_NE(as<result::Ok>(run(*store, completion_of(held))), nullptr);
  EXPECT_NE(as<result::Ok>(run(*store, completion_of(held))), nullptr);
}

TEST(Contention, says_in_progress_to_a_claim_that_meets_an_uncommitted_one) {
  const TestDatabase database;
  const auto store = open_one(database, patient());
  Foreign service(database, "SELECT * FROM stet.claim('scope', 'k', '\\x00')");
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Command> batch{claim_of("k"), claim_of("another")};
  const auto outcomes = store->execute(batch);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_NE(as<result::InProgress>(outcomes[0]), nullptr);
  EXPECT_NE(as<result::Claimed>(outcomes[1]), nullptr);
  service.commit();
  EXPECT_NE(as<result::Mismatch>(run(*store, claim_of("k"))), nullptr);
}

TEST(Contention, completes_when_the_upstream_has_rolled_back) {
  const TestDatabase database;
  const auto store = open_one(database);
  const auto c = claim_of("k");
  run(*store, c);
  {
    Foreign upstream(database, "SELECT stet.complete('" + token_of(c).text() + "', 200, '[]', 'x')");
    EXPECT_EQ(failure(run(*store, completion_of(c))), StoreFailure::unavailable);
  }  // its connection ends, and so does its transaction
  for (int i = 0; i < 1000 && failure(run(*store, completion_of(c))); ++i) std::this_thread::sleep_for(20ms);
  const auto replay = run(*store, claim_of("k"));
  ASSERT_NE(as<result::Replay>(replay), nullptr);
  EXPECT_EQ(as<result::Replay>(replay)->answer, answer_of("k"));
}

TEST(Contention, finds_what_an_upstream_has_completed) {
  const TestDatabase database;
  const auto store = open_one(database);
  const auto c = claim_of("k");
  run(*store, c);
  Foreign upstream(database,
                   "SELECT stet.complete('" + token_of(c).text() + "', 200, '[[\"A\", \"b\"]]', 'x')");
  upstream.commit();
  EXPECT_NE(as<result::Fenced>(run(*store, completion_of(c))), nullptr);
  const auto replay = run(*store, claim_of("k"));
  ASSERT_NE(as<result::Replay>(replay), nullptr);
  EXPECT_EQ(as<result::Replay>(replay)->answer, (Answer{200, {{"A", "b"}}, "x", Kept::whole}));
}

// A service that completes in its own transaction leaves the lease to the sweep, and nobody asks for a second
// slice where no operation was ended.
TEST(Contention, of_a_sweep_with_leases_that_services_left_ends_with_all_of_them_gone) {
  const TestDatabase database;
  const auto store = open_one(database);
  database.sql(
      "INSERT INTO stet.leases SELECT 'scope', convert_to(i::text, 'UTF8'), gen_random_uuid(), now() - "
      "interval "
      "'1 s', 1 FROM generate_series(1, 700) i");
  run(*store, claim_of("pending"));
  const auto outcome = run(*store, command::Sweep{100});
  ASSERT_NE(as<result::Swept>(outcome), nullptr);
  EXPECT_EQ(*as<result::Swept>(outcome), result::Swept{});
  EXPECT_EQ(database.sql("SELECT count(*) FROM stet.leases"), "1");
}

}  // namespace
}  // namespace stet::stores::postgres
