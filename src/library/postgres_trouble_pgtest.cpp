// What a service or its database does to a transaction on PostgreSQL, and what may never come of it.

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "library/postgres_for_test.hpp"
#include "stet/phases.hpp"

namespace stet::library {
namespace {

class PostgresTrouble : public OnPostgres {
 protected:
  // The SQLSTATE of a certain refusal; empty: it went well.
  static std::string refusal(const std::function<void()>& f) {
    try {
      f();
    } catch (const StoreError& error) {
      EXPECT_EQ(error.kind(), StoreFailure::not_written) << error.what();
      const std::string what = error.what();
      return what.substr(what.rfind('(') + 1, 5);
    }
    return "";
  }
  static Ending claim_and_hold(postgres::Transaction& transaction, const std::string& key) {
    const Intent intent{"alice", key, fingerprint_of("100"), "POST", "/transfers"};
    return run_once(transaction.session(), intent, {},
                    [&](const Token&) {
                      exec(transaction.handle(), "INSERT INTO movements VALUES ('" + key + "', 100)");
                      return Answer{201, {{"Location", "/m/1"}}, "moved", Kept::whole};
                    })
        .ending;
  }
};

TEST_F(PostgresTrouble, refuses_to_work_outside_a_transaction) {
  PGconn* const connection = PQconnectdb(database_.url().c_str());
  postgres::Session session(connection);
  const Intent intent{"alice", "k", fingerprint_of("100"), "POST", "/transfers"};
  for (int i = 0; i < 2; ++i) {
    bool ran = false;
    try {
      run_once(session, intent, {}, [&](const Token&) {
        ran = true;
        return Answer{201, {}, "", Kept::whole};
      });
      ADD_FAILURE() << "each statement was a transaction of its own";
    } catch (const StoreError& error) {
      EXPECT_EQ(error.kind(), StoreFailure::not_written);
    }
    EXPECT_FALSE(ran);
    EXPECT_THROW(session.emit({"t", "p", {}, {}}), StoreError);
    EXPECT_THROW(session.receive("s", "e"), StoreError);
  }
  PQfinish(connection);
  EXPECT_EQ(count("stet.operations") + count("stet.outbox") + count("stet.inbox"), 0);
}

TEST_F(PostgresTrouble, does_not_run_work_again_that_has_committed_by_itself) {
  const Intent intent{"alice", "k", fingerprint_of("100"), "POST", "/transfers"};
  for (int i = 0; i < 3; ++i) {
    postgres::Transaction transaction = pool_.transaction();
    const auto once = [&] {
      return run_once(transaction.session(), intent, {}, [&](const Token&) {
        exec(transaction.handle(), "INSERT INTO movements VALUES ('k', 100)");
        exec(transaction.handle(), "COMMIT");
        return Answer{201, {}, "moved", Kept::whole};
      });
    };
    if (i == 0) {
      EXPECT_THROW(once(), StoreError);
    } else {
      EXPECT_EQ(once().shown.problem, Problem::outcome_unknown);
    }
  }
  EXPECT_EQ(count("movements"), 1);
}

TEST_F(PostgresTrouble, hands_a_serialization_failure_on_and_has_one_effect) {
  for (const char* level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    const std::string key = level;
    postgres::Transaction first = pool_.transaction();
    postgres::Transaction late = pool_.transaction();
    for (auto* transaction : {&first, &late}) {
      exec(transaction->handle(), std::string("SET TRANSACTION ISOLATION LEVEL ") + level);
      number(transaction->handle(), "SELECT count(*) FROM accounts");
    }
    EXPECT_EQ(transfer(first, key).ending, Ending::ran);
    EXPECT_EQ(refusal([&] { transfer(late, key); }), "40001")
        << "it does not see what was committed after it began";
    EXPECT_EQ(transfer(key).ending, Ending::replayed);
  }
  EXPECT_EQ(count("movements"), 2);
}

// Whoever runs the database may have set these for everybody.
TEST_F(PostgresTrouble, works_whatever_isolation_the_database_has_by_itself) {
  for (const char* level : {"repeatable read", "serializable"}) {
    database_.sql("ALTER DATABASE " + database_.name() + " SET default_transaction_isolation = '" + level +
                  "'");
    postgres::Pool pool(database_.url());
    Renewer renewer;
    const Intent intent{"alice", level, fingerprint_of("100"), "POST", "/transfers"};
    const std::vector<Phase> phases{{"moved",
                                     [&](Running& op) {
                                       postgres::Transaction transaction = pool.transaction();
                                       exec(transaction.handle(), "INSERT INTO movements VALUES ('k', 100)");
                                       op.advance(transaction.session());
                                       transaction.commit();
                                     }},
                                    {"told", [&](Running& op) {
                                       postgres::Transaction transaction = pool.transaction();
                                       op.complete(transaction.session(), {201, {}, "moved", Kept::whole});
                                       transaction.commit();
                                     }}};
    EXPECT_EQ(run_phases(pool, renewer, intent, {}, phases).ending, Ending::ran);
    EXPECT_EQ(run_phases(pool, renewer, intent, {}, phases).ending, Ending::replayed);
    postgres::Transaction transaction = pool.transaction();
    EXPECT_EQ(transfer(transaction, std::string("once-") + level).ending, Ending::ran);
  }
  EXPECT_EQ(count("movements"), 4);
}

TEST_F(PostgresTrouble, refuses_a_connection_on_which_a_statement_still_runs_and_lends_it_to_nobody_else) {
  for (int i = 0; i < 2; ++i) {
    postgres::Transaction transaction = pool_.transaction();
    const Intent intent{"alice", "k", fingerprint_of("100"), "POST", "/transfers"};
    EXPECT_THROW(run_once(transaction.session(), intent, {},
                          [&](const Token&) {
                            EXPECT_EQ(PQsendQuery(transaction.handle(), "SELECT pg_sleep(0.2)"), 1);
                            return Answer{201, {}, "moved", Kept::whole};
                          }),
                 StoreError);
  }
  EXPECT_EQ(transfer("k").ending, Ending::ran);
}

TEST_F(PostgresTrouble, lends_connections_that_send_all_of_a_large_copy) {
  postgres::Transaction transaction = pool_.transaction();
  PQclear(PQexec(transaction.handle(), "COPY movements FROM STDIN"));
  const std::string line = std::string(1U << 20U, 'k') + "\t1\n";
  for (int i = 0; i < 32; ++i)
    ASSERT_EQ(PQputCopyData(transaction.handle(), line.data(), int(line.size())), 1) << i;
  ASSERT_EQ(PQputCopyEnd(transaction.handle(), nullptr), 1);
  while (PGresult* const result = PQgetResult(transaction.handle())) PQclear(result);
  transaction.commit();
  EXPECT_EQ(count("movements"), 32);
}

TEST_F(PostgresTrouble, does_not_wait_for_ever_for_a_connection) {
  postgres::Pool one(database_.url(), {.connections = 1, .wait = std::chrono::milliseconds(100)});
  const postgres::Transaction held = one.transaction();
  for (int i = 0; i < 2; ++i) EXPECT_THROW(one.transaction(), StoreError);
}

TEST_F(PostgresTrouble, is_refused_to_a_child_of_the_process_that_made_the_pool) {
  EXPECT_EQ(transfer("k").ending, Ending::ran);
  const pid_t child = ::fork();
  if (child == 0) {
    int refused = 0;
    try {
      pool_.transaction();
    } catch (const StoreError&) {
      ++refused;
    }
    try {
      pool_.find(OperationId::of("alice", "k"));
    } catch (const StoreError&) {
      ++refused;
    }
    ::_exit(refused == 2 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(transfer("k").ending, Ending::replayed) << "on the connection that the child has left alone";
}

TEST_F(PostgresTrouble, says_unavailable_when_the_connection_is_lost_at_the_commit) {
  postgres::Transaction transaction = pool_.transaction();
  exec(transaction.handle(), "INSERT INTO movements VALUES ('k', 1)");
  database_.sql("SELECT pg_terminate_backend(" + std::to_string(PQbackendPID(transaction.handle())) + ")");
  try {
    transaction.commit();
    FAIL() << "it says that it was committed";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreFailure::unavailable);
  }
  EXPECT_EQ(transfer("k").ending, Ending::ran) << "the pool makes a new connection";
}

// Its own lock_timeout, its own deadlock: nothing of the transaction is left, and it may be begun anew.
TEST_F(PostgresTrouble, hands_on_what_a_lock_has_cost_and_has_one_effect) {
  postgres::Transaction first = pool_.transaction();
  postgres::Transaction second = pool_.transaction();
  EXPECT_EQ(claim_and_hold(first, "a"), Ending::ran);
  exec(second.handle(), "SET LOCAL lock_timeout = '50ms'");
  EXPECT_EQ(refusal([&] { claim_and_hold(second, "a"); }), "55P03");
  first.commit();
  EXPECT_EQ(transfer("a").ending, Ending::replayed);

  std::string lost_by_one;
  std::string lost_by_other;
  {
    postgres::Transaction one = pool_.transaction();
    postgres::Transaction other = pool_.transaction();
    EXPECT_EQ(claim_and_hold(one, "b"), Ending::ran);
    EXPECT_EQ(claim_and_hold(other, "c"), Ending::ran);
    std::jthread crossing([&] { lost_by_one = refusal([&] { claim_and_hold(one, "c"); }); });
    lost_by_other = refusal([&] { claim_and_hold(other, "b"); });
    if (!lost_by_other.empty()) {
      postgres::Transaction ended = std::move(other);
    } else {
      other.commit();
    }
    crossing.join();
    if (lost_by_one.empty()) one.commit();
  }  // whichever of the two it was, its connection goes back to the pool
  EXPECT_EQ(lost_by_one + lost_by_other, "40P01") << "one of them";
  for (const char* key : {"b", "c"}) EXPECT_EQ(transfer(key).ending, Ending::replayed);
  EXPECT_EQ(count("movements"), 3);
}

TEST_F(PostgresTrouble, leaves_nothing_of_a_transaction_that_the_server_has_ended_for_its_slowness) {
  for (const char* limit :
       {"SET idle_in_transaction_session_timeout = '30ms'", "SET LOCAL statement_timeout = '30ms'"}) {
    for (int i = 0; i < 2; ++i) {
      postgres::Transaction transaction = pool_.transaction();
      exec(transaction.handle(), limit);
      const auto slow = [&] {
        const Intent intent{"alice", "k", fingerprint_of("100"), "POST", "/transfers"};
        run_once(transaction.session(), intent, {}, [&](const Token&) {
          exec(transaction.handle(), "INSERT INTO movements VALUES ('k', 100)");
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
          exec(transaction.handle(), "SELECT pg_sleep(0.2)");
          return Answer{201, {}, "moved", Kept::whole};
        });
      };
      EXPECT_THROW(slow(), StoreError);
      EXPECT_THROW(transaction.commit(), StoreError);
    }
    EXPECT_EQ(count("movements") + count("stet.operations"), 0);
  }
  EXPECT_EQ(transfer("k").ending, Ending::ran);
}

}  // namespace
}  // namespace stet::library
