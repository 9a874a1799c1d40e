// What a service does wrong must not become an answer whose rows are not there.

#include <atomic>
#include <thread>

#include "library/sqlite_for_test.hpp"
#include "stet/completer.hpp"
#include "stet/phases.hpp"
#include "stet/sqlite/pool.hpp"
#include "stet/sweeper.hpp"

namespace stet::library {
namespace {

class Mistakes : public testing::Test {
 protected:
  Phase complete(const Answer& answer, Then then) {
    return {"told", [this, answer, then](Running& op) {
              sqlite::Transaction transaction = pool_.transaction();
              charge(transaction);
              op.complete(transaction.session(), answer);
              if (then == Then::commit) transaction.commit();
            }};
  }
  static void charge(const sqlite::Transaction& transaction) {
    EXPECT_EQ(sqlite3_exec(transaction.handle(), "INSERT INTO charges (amount) VALUES (1)", nullptr, nullptr,
                           nullptr),
              SQLITE_OK);
  }
  RunResult run(const Phase& phase, const std::string& key = "k") {
    return run_phases(pool_, renewer_, intent(key), {}, std::vector{phase});
  }

  stores::sqlite::TestFile file_;
  UsersDatabase database_{file_.path()};
  sqlite::Pool pool_{file_.path(), {.durability = sqlite::PoolOptions::Durability::os}};
  Renewer renewer_;
  const Answer done_{201, {}, "done", Kept::whole};
};

TEST_F(Mistakes, a_phase_that_forgets_its_commit_has_completed_nothing) {
  for (int i = 0; i < 2; ++i) EXPECT_THROW(run(complete(done_, Then::roll_back)), std::logic_error);
  EXPECT_EQ(database_.charges(), 0);
  EXPECT_EQ(run(complete(done_, Then::commit)).ending, Ending::ran)
      << "nothing was recorded without its rows";
  EXPECT_EQ(run(complete(done_, Then::commit)).ending, Ending::replayed);
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(Mistakes, a_phase_that_forgets_its_commit_has_not_advanced_and_the_next_one_does_not_run) {
  int told = 0;
  const auto reserve = [this](Then then) -> Phase {
    return {"reserved", [this, then](Running& op) {
              sqlite::Transaction transaction = pool_.transaction();
              charge(transaction);
              op.advance(transaction.session());
              if (then == Then::commit) transaction.commit();
            }};
  };
  const Phase tell{"told", [&](Running& op) {
                     ++told;
                     complete(done_, Then::commit).run(op);
                   }};
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(run_phases(pool_, renewer_, intent("k"), {}, std::vector{reserve(Then::roll_back), tell}),
                 std::logic_error);
  }
  EXPECT_EQ(told, 0) << "it would go on from rows that are not there";
  EXPECT_EQ(run_phases(pool_, renewer_, intent("k"), {}, std::vector{reserve(Then::commit), tell}).ending,
            Ending::ran);
  EXPECT_EQ(database_.charges(), 2);
}

TEST_F(Mistakes, points_that_do_not_tell_two_phases_apart_are_refused_before_anything_is_claimed) {
  const auto never = [](Running&) { ADD_FAILURE() << "it ran"; };
  for (const auto& phases :
       {std::vector<Phase>{{"", never}}, std::vector<Phase>{{"a", never}, {"b", never}, {"a", never}}}) {
    EXPECT_THROW(run_phases(pool_, renewer_, intent("k"), {}, phases), std::invalid_argument);
  }
  for (const milliseconds lease : {milliseconds(0), milliseconds(-1)}) {
    PhaseOptions options;
    options.lease = lease;
    EXPECT_THROW(run_phases(pool_, renewer_, intent("k"), options, std::vector<Phase>{{"a", never}}),
                 std::invalid_argument);
  }
  EXPECT_EQ(database_.operations(), 0);
}

// Its rows stand, and whether they are all of them nobody can say: never a second time.
TEST_F(Mistakes, work_that_commits_by_itself_is_not_run_again) {
  for (const char* own_end : {"COMMIT", "COMMIT; BEGIN IMMEDIATE"}) {
    const std::string key = own_end;
    const auto once = [&](const std::string& last) {
      sqlite::Transaction transaction = pool_.transaction();
      const RunResult result = run_once(transaction.session(), intent(key), {}, [&](const Token&) {
        charge(transaction);
        EXPECT_EQ(sqlite3_exec(transaction.handle(), last.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
        if (last != "COMMIT") throw std::runtime_error("and then it failed");
        return done_;
      });
      if (result.then() == Then::commit) transaction.commit();
      return result;
    };
    const int before = database_.charges();
    EXPECT_ANY_THROW(once(own_end));
    for (int i = 0; i < 2; ++i) {
      const RunResult again = once(own_end);
      EXPECT_EQ(again.ending, Ending::refused);
      EXPECT_EQ(again.shown.problem, Problem::outcome_unknown);
      EXPECT_FALSE(again.shown.retryable);
    }
    EXPECT_EQ(database_.charges(), before + 1);
  }
}

TEST_F(Mistakes, what_is_thrown_and_no_exception_gives_the_operation_back_too) {
  for (int i = 0; i < 2; ++i) EXPECT_THROW(run({"told", [](Running&) { throw 42; }}), int);
  EXPECT_EQ(run(complete(done_, Then::commit)).ending, Ending::ran) << "at once, and not after the lease";
}

TEST_F(Mistakes, a_sweep_of_no_rows_is_refused) {
  EXPECT_THROW(Sweeper(pool_, {.rows = 0}), std::invalid_argument);
}

TEST_F(Mistakes, a_status_that_is_none_is_refused_before_it_is_recorded) {
  for (const int status : {0, 99, 600, 1000, -1}) {
    const std::string key = "k" + std::to_string(status);
    for (int i = 0; i < 2; ++i) {
      EXPECT_THROW(run(complete({status, {}, "", Kept::whole}, Then::commit), key), std::invalid_argument);
    }
    EXPECT_EQ(run(complete(done_, Then::commit), key).ending, Ending::ran);
  }
  EXPECT_EQ(database_.charges(), 5);
}

TEST_F(Mistakes, a_status_of_work_that_is_none_is_refused_and_so_is_its_transaction) {
  for (const int status : {0, 99, 600, 1000, -1}) {
    for (int i = 0; i < 2; ++i) {
      sqlite::Transaction transaction = pool_.transaction();
      const Work work = [&](const Token&) { return Answer{status, {}, "", Kept::whole}; };
      EXPECT_THROW(run_once(transaction.session(), intent("k"), {}, work), std::invalid_argument);
    }
  }
  // A table that takes these for unknown is one of calls, and not of transactions.
  RunOptions options;
  options.statuses = StatusTable();
  for (int i = 0; i < 2; ++i) {
    sqlite::Transaction transaction = pool_.transaction();
    const Work work = [](const Token&) { return Answer{502, {}, "", Kept::whole}; };
    const RunResult declined = run_once(transaction.session(), intent("k"), options, work);
    EXPECT_EQ(declined.ending, Ending::declined);
    EXPECT_EQ(declined.shown.outcome, Outcome::not_executed);
  }
  EXPECT_EQ(database_.operations(), 0);
}

TEST_F(Mistakes, a_resume_that_throws_keeps_the_completer_from_no_other_operation) {
  const Phase fails{"told", [](Running&) { throw std::runtime_error("away"); }};
  for (const char* key : {"poison", "worse", "fine"}) EXPECT_THROW(run(fails, key), std::runtime_error);
  CompleterOptions options;
  std::vector<std::string> notices;
  options.notice = [&](std::string_view text) { notices.emplace_back(text); };
  Completer completer(
      pool_, renewer_,
      [&](const Record& record) -> std::optional<std::vector<Phase>> {
        if (record.token.key == "poison") throw std::runtime_error("there is no such row");
        if (record.token.key == "worse") throw 42;
        return std::vector{complete(done_, Then::commit)};
      },
      options);
  EXPECT_EQ(completer.run_once(), 1U);
  EXPECT_EQ(completer.run_once(), 0U);
  ASSERT_EQ(notices.size(), 4U);
  EXPECT_NE(notices[0].find("no such row"), std::string::npos);
}

TEST_F(Mistakes, a_completer_that_is_told_to_stop_begins_no_other_operation) {
  const Phase fails{"told", [](Running&) { throw std::runtime_error("away"); }};
  for (const char* key : {"a", "b", "c"}) EXPECT_THROW(run(fails, key), std::runtime_error);
  std::stop_source stop;
  int resumed = 0;
  Completer completer(pool_, renewer_, [&](const Record&) {
    ++resumed;
    stop.request_stop();
    return std::vector{fails};
  });
  completer.run(stop.get_token());
  EXPECT_EQ(resumed, 1) << "a provider that is away would keep the service from ending";
}

TEST_F(Mistakes, a_pause_without_end_is_a_pause) {
  std::atomic<int> passes = 0;
  const Phase fails{"told", [](Running&) { throw std::runtime_error("away"); }};
  EXPECT_THROW(run(fails), std::runtime_error);
  CompleterOptions options;
  options.every = kForever;
  Completer completer(
      pool_, renewer_,
      [&](const Record&) -> std::optional<std::vector<Phase>> {
        ++passes;
        return std::nullopt;
      },
      options);
  {
    std::jthread thread([&](const std::stop_token& stop) { completer.run(stop); });
    while (passes == 0) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(passes, 1);
}

// A service that went from phases to one transaction: what the last finished phase has done must not be done
// again.
TEST_F(Mistakes, one_transaction_does_not_begin_anew_what_phases_have_begun) {
  const Phase reserved{"reserved", [this](Running& op) {
                         sqlite::Transaction transaction = pool_.transaction();
                         op.advance(transaction.session());
                         transaction.commit();
                       }};
  EXPECT_THROW(run(reserved), std::logic_error) << "nobody completed it";
  for (int i = 0; i < 2; ++i) {
    sqlite::Transaction transaction = pool_.transaction();
    const Work work = [](const Token&) -> std::optional<Answer> {
      ADD_FAILURE() << "it ran";
      return std::nullopt;
    };
    EXPECT_THROW(run_once(transaction.session(), intent("k"), {}, work), std::logic_error);
  }
}

TEST_F(Mistakes, work_that_runs_its_own_operation_is_refused_it_and_goes_on) {
  for (int i = 0; i < 2; ++i) {
    sqlite::Transaction transaction = pool_.transaction();
    const Work inner = [this](const Token&) {
      ADD_FAILURE() << "it ran";
      return done_;
    };
    const Work outer = [&](const Token&) {
      const RunResult refused = run_once(transaction.session(), intent("k"), {}, inner);
      EXPECT_EQ(refused.ending, Ending::refused);
      EXPECT_EQ(refused.shown.problem, Problem::outcome_unknown);
      charge(transaction);
      return done_;
    };
    EXPECT_EQ(run_once(transaction.session(), intent("k"), {}, outer).ending,
              i == 0 ? Ending::ran : Ending::replayed);
    transaction.commit();
  }
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(Mistakes, work_that_completes_its_own_operation_has_no_answer) {
  for (int i = 0; i < 2; ++i) {
    sqlite::Transaction transaction = pool_.transaction();
    const Work work = [&](const Token& token) {
      const Command complete = command::Complete{token, {200, {}, "mine", Kept::whole}, std::nullopt};
      transaction.session().execute({&complete, 1});
      return done_;
    };
    EXPECT_THROW(run_once(transaction.session(), intent("k"), {}, work), std::logic_error);
  }
  EXPECT_EQ(database_.operations(), 0);
}

}  // namespace
}  // namespace stet::library
