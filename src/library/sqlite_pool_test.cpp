// Transactions and pools, and how the tables come into a file.

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "library/sqlite_for_test.hpp"
#include "stet/sqlite/pool.hpp"

namespace stet::library {
namespace {

using namespace std::chrono_literals;

class SqlitePool : public testing::Test {
 protected:
  static void charge(const sqlite::Transaction& transaction) {
    ASSERT_EQ(sqlite3_exec(transaction.handle(), "INSERT INTO charges (amount) VALUES (1)", nullptr, nullptr,
                           nullptr),
              SQLITE_OK);
  }
  static StoreFailure kind_of(const std::function<void()>& f) {
    try {
      f();
    } catch (const StoreError& error) {
      return error.kind();
    }
    ADD_FAILURE() << "it went well";
    return StoreFailure::unavailable;
  }

  stores::sqlite::TestFile file_;
  UsersDatabase database_{file_.path()};
  sqlite::Pool pool_{file_.path(), {.connections = 2, .busy_timeout = 100ms}};
};

TEST_F(SqlitePool, rolls_back_what_was_not_committed) {
  for (int i = 0; i < 2; ++i) {
    const sqlite::Transaction transaction = pool_.transaction();
    charge(transaction);
  }
  EXPECT_EQ(database_.charges(), 0);
  sqlite::Transaction first = pool_.transaction();
  charge(first);
  sqlite::Transaction moved = std::move(first);
  moved.commit();
  EXPECT_EQ(database_.charges(), 1);
  EXPECT_EQ(kind_of([&] { moved.commit(); }), StoreFailure::not_written) << "there is nothing left to commit";
}

TEST_F(SqlitePool, has_one_writer_at_a_time_and_says_so) {
  sqlite::Transaction first = pool_.transaction();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(kind_of([&] { pool_.transaction(); }), StoreFailure::not_written);
  charge(first);
  first.commit();
  sqlite::Transaction next = pool_.transaction();
  charge(next);
  next.commit();
  EXPECT_EQ(database_.charges(), 2);
}

TEST_F(SqlitePool, does_not_wait_for_ever_for_a_connection) {
  sqlite::Pool one(file_.path(), {.connections = 1, .busy_timeout = 100ms});
  const sqlite::Transaction held = one.transaction();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(kind_of([&] { one.transaction(); }), StoreFailure::not_written);
  EXPECT_EQ(kind_of([&] { one.find(OperationId::of("alice", "k")); }), StoreFailure::not_written);
}

// The connection would stay where the reader stopped, and nobody could write on it any more.
TEST_F(SqlitePool, ends_the_reading_that_a_borrower_has_left_half_done) {
  sqlite::Pool one(file_.path(), {.connections = 1, .busy_timeout = 100ms});
  database_.charge(1);
  database_.charge(2);
  sqlite3_stmt* left = nullptr;
  {
    sqlite::Transaction reader = one.transaction();
    ASSERT_EQ(sqlite3_prepare_v2(reader.handle(), "SELECT id FROM charges", -1, &left, nullptr), SQLITE_OK);
    ASSERT_EQ(sqlite3_step(left), SQLITE_ROW);
    reader.commit();
  }
  database_.charge(3);
  for (int i = 0; i < 2; ++i) {
    sqlite::Transaction next = one.transaction();
    charge(next);
    next.commit();
  }
  EXPECT_EQ(database_.charges(), 5);
  sqlite3_finalize(left);
}

TEST_F(SqlitePool, is_refused_to_a_child_of_the_process_that_made_it) {
  pool_.transaction().commit();
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(kind_of([&] { pool_.transaction(); }) == StoreFailure::incompatible ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  sqlite::Transaction here = pool_.transaction();
  charge(here);
  here.commit();
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(SqlitePool, lends_no_more_connections_than_it_may_and_hands_on_what_comes_back) {
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] {
        for (int n = 0; n < 5; ++n) {
          for (int tries = 0; tries < 100; ++tries) {
            try {
              sqlite::Transaction transaction = pool_.transaction();
              charge(transaction);
              transaction.commit();
              ++done;
              break;
            } catch (const StoreError&) {  // busy: others are at it
            }
          }
        }
      });
    }
  }
  EXPECT_EQ(done, 40);
  EXPECT_EQ(database_.charges(), 40);
}

TEST_F(SqlitePool, applies_its_tables_again_and_within_a_transaction_of_the_users) {
  sqlite::apply_schema(database_.handle());
  database_.run("DROP TABLE stet_outbox");
  database_.run("BEGIN IMMEDIATE");
  sqlite::apply_schema(database_.handle());
  EXPECT_EQ(sqlite3_get_autocommit(database_.handle()), 0) << "it has ended the user's transaction";
  database_.run("ROLLBACK");
  EXPECT_EQ(database_.number("SELECT count(*) FROM sqlite_master WHERE name = 'stet_outbox'"), 0);
}

TEST_F(SqlitePool, refuses_tables_of_a_newer_version) {
  database_.run("UPDATE stet_schema SET version = 2");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(kind_of([&] { sqlite::Pool newer(file_.path()); }), StoreFailure::incompatible);
  }
  EXPECT_EQ(sqlite3_get_autocommit(database_.handle()), 1);
}

TEST_F(SqlitePool, does_not_open_what_is_not_there) {
  EXPECT_EQ(kind_of([] { sqlite::Pool nowhere("/nowhere/at/all.db"); }), StoreFailure::not_written);
  EXPECT_EQ(kind_of([&] { sqlite::Pool none(file_.path(), {.connections = 0}); }),
            StoreFailure::incompatible);
}

TEST_F(SqlitePool, takes_every_lease_of_an_earlier_boot_for_over) {
  const Command claim =
      command::Claim{"alice", "k", Nonce::random(), fingerprint_of("x"), "POST", "/", {}, 1h};
  EXPECT_TRUE(std::holds_alternative<result::Claimed>(std::get<Result>(pool_.execute({&claim, 1})[0])));
  const Command again =
      command::Claim{"alice", "k", Nonce::random(), fingerprint_of("x"), "POST", "/", {}, 1h};
  EXPECT_TRUE(std::holds_alternative<result::InProgress>(std::get<Result>(pool_.execute({&again, 1})[0])));
  database_.run("UPDATE stet_operations SET lease_boot = CAST('another boot' AS BLOB)");
  EXPECT_TRUE(std::holds_alternative<result::Lapsed>(std::get<Result>(pool_.execute({&again, 1})[0])));
}

}  // namespace
}  // namespace stet::library
