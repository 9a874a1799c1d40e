// run_once, phases and messages on PostgreSQL, and the sweep of failures there.

#include <gmock/gmock.h>

#include <latch>
#include <thread>

#include "library/failure_sweep_for_test.hpp"
#include "library/postgres_for_test.hpp"
#include "stores/postgres/schema.hpp"

namespace stet::library {
namespace {

class PostgresBank final : public failures::Bank {
 public:
  explicit PostgresBank(const std::string& url) : connection_(PQconnectdb(url.c_str())), pool_(url) {
    EXPECT_EQ(PQstatus(connection_), CONNECTION_OK) << PQerrorMessage(connection_);
    session_.emplace(connection_);
  }
  ~PostgresBank() override { PQfinish(connection_); }
  void begin() override { exec(connection_, "BEGIN"); }
  void commit() override { exec(connection_, "COMMIT"); }
  void roll_back() override { exec(connection_, "ROLLBACK"); }
  void run(const std::string& sql) override { exec(connection_, sql); }
  int number(const std::string& sql) override { return library::number(connection_, sql); }
  Session& session() override { return *session_; }
  Pool& pool() override { return pool_; }

 private:
  PGconn* connection_;
  std::optional<postgres::Session> session_;
  postgres::Pool pool_;
};

// One database for the whole sweep: a town is its tables emptied.
class PostgresTown final : public failures::Town {
 public:
  explicit PostgresTown(const TestDatabase& database) : database_(database) {
    database_.sql(
        "TRUNCATE stet.operations, stet.leases, stet.outbox, stet.inbox; DROP TABLE IF EXISTS accounts, "
        "movements;" +
        std::string(failures::kBankTables));
  }
  std::unique_ptr<failures::Bank> open() override { return std::make_unique<PostgresBank>(database_.url()); }

 private:
  const TestDatabase& database_;
};

TEST_F(OnPostgres, runs_the_first_time_and_shows_the_same_answer_again) {
  const RunResult first = transfer("k");
  EXPECT_EQ(first.ending, Ending::ran);
  for (int i = 0; i < 2; ++i) {
    const RunResult again = transfer("k");
    EXPECT_EQ(again.ending, Ending::replayed);
    EXPECT_EQ(again.shown.answer, first.shown.answer);
    EXPECT_EQ(transfer("k", "200").shown.problem, Problem::key_reused);
  }
  EXPECT_EQ(count("movements"), 1);
  EXPECT_EQ(count("stet.outbox"), 1);
}

TEST_F(OnPostgres, runs_once_when_many_send_the_same_at_once) {
  constexpr int kCallers = 6;
  std::latch go(kCallers);
  std::atomic<int> ran = 0;
  std::atomic<int> replayed = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&] {
        PGconn* const connection = PQconnectdb(database_.url().c_str());
        go.arrive_and_wait();
        for (int key = 0; key < 10; ++key) {
          postgres::Transaction transaction(connection);
          const RunResult result = transfer(transaction, "k" + std::to_string(key));
          if (result.ending == Ending::ran) ++ran;
          if (result.ending == Ending::replayed) ++replayed;
        }
        PQfinish(connection);
      });
    }
  }
  EXPECT_EQ(ran, 10);
  EXPECT_EQ(replayed, kCallers * 10 - 10) << "whoever came second waited for the first one's commit";
  EXPECT_EQ(count("movements"), 10);
}

TEST_F(OnPostgres, lends_transactions_to_a_role_that_has_only_an_applications_rights) {
  const std::string role = database_.name() + "_app";
  database_.sql("CREATE ROLE " + role + " LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role + "; " +
                stores::postgres::app_role_sql(role));
  {
    postgres::Pool pool(database_.url() + " user=" + role);
    for (const Ending wanted : {Ending::ran, Ending::replayed}) {
      postgres::Transaction transaction = pool.transaction();
      EXPECT_EQ(transfer(transaction, "k").ending, wanted);
    }
  }
  EXPECT_EQ(count("movements"), 1);
  database_.sql("DROP OWNED BY " + role + "; DROP ROLE " + role);
}

TEST_F(OnPostgres, hears_in_progress_at_once_where_it_does_not_want_to_wait) {
  postgres::Transaction first = pool_.transaction();
  const Intent intent{"alice", "k", fingerprint_of("100"), "POST", "/transfers"};
  const RunResult ran =
      run_once(first.session(), intent, {}, [](const Token&) { return Answer{201, {}, "", Kept::whole}; });
  EXPECT_EQ(ran.ending, Ending::ran);
  postgres::SessionOptions impatient;
  impatient.foreign = postgres::SessionOptions::Foreign::answer_in_progress;
  PGconn* const connection = PQconnectdb(database_.url().c_str());
  for (int i = 0; i < 2; ++i) {
    postgres::Transaction second(connection, impatient);
    EXPECT_EQ(transfer(second, "k").shown.problem, Problem::in_progress);
  }
  first.commit();
  {
    postgres::Transaction second(connection, impatient);
    EXPECT_EQ(transfer(second, "k").ending, Ending::replayed);
  }
  PQfinish(connection);
}

TEST_F(OnPostgres, does_not_take_the_commit_of_a_failed_transaction_for_one) {
  for (int i = 0; i < 2; ++i) {
    postgres::Transaction transaction = pool_.transaction();
    exec(transaction.handle(), "INSERT INTO movements VALUES ('k', 1)");
    EXPECT_THROW(exec(transaction.handle(), "SELECT 1 / 0"), StoreError);
    try {
      transaction.commit();
      FAIL() << "it says that it was committed";
    } catch (const StoreError& error) {
      EXPECT_EQ(error.kind(), StoreFailure::not_written);
    }
  }
  EXPECT_EQ(count("movements"), 0);
}

TEST_F(OnPostgres, receives_an_event_once_by_its_own_id) {
  for (int i = 0; i < 2; ++i) {
    postgres::Transaction transaction = pool_.transaction();
    EXPECT_EQ(transaction.session().receive("provider", "evt_1"), Receipt::first);
    EXPECT_EQ(transaction.session().receive("provider", "evt_1"), Receipt::repeat);
    if (i == 1) transaction.commit();
  }
  postgres::Transaction transaction = pool_.transaction();
  EXPECT_EQ(transaction.session().receive("provider", "evt_1"), Receipt::repeat);
}

TEST_F(OnPostgres, has_one_effect_of_run_once_or_none_whatever_fails) {
  failures::sweep_run_once([this] { return std::make_unique<PostgresTown>(database_); });
}

TEST_F(OnPostgres, has_one_effect_of_phases_whatever_fails_and_the_provider_sees_one_charge) {
  failures::sweep_phases([this] { return std::make_unique<PostgresTown>(database_); });
}

}  // namespace
}  // namespace stet::library
