// What a service does wrong must not become an answer whose rows are not there.

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
              sqlite3_exec(transaction.handle(), "INSERT INTO charges (amount) VALUES (1)", nullptr, nullptr,
                           nullptr);
              op.complete(transaction.session(), answer);
              if (then == Then::commit) transaction.commit();
            }};
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

TEST_F(Mistakes, a_resume_that_throws_keeps_the_completer_from_no_other_operation) {
  const Phase fails{"told", [](Running&) { throw std::runtime_error("away"); }};
  for (const char* key : {"poison", "fine"}) EXPECT_THROW(run(fails, key), std::runtime_error);
  CompleterOptions options;
  std::vector<std::string> notices;
  options.notice = [&](std::string_view text) { notices.emplace_back(text); };
  Completer completer(
      pool_, renewer_,
      [&](const Record& record) -> std::optional<std::vector<Phase>> {
        if (record.token.key == "poison") throw std::runtime_error("there is no such row");
        return std::vector{complete(done_, Then::commit)};
      },
      options);
  EXPECT_EQ(completer.run_once(), 1U);
  EXPECT_EQ(completer.run_once(), 0U);
  ASSERT_EQ(notices.size(), 2U);
  EXPECT_NE(notices[0].find("no such row"), std::string::npos);
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

TEST_F(Mistakes, work_that_runs_its_own_operation_has_no_answer) {
  for (int i = 0; i < 2; ++i) {
    sqlite::Transaction transaction = pool_.transaction();
    const Work inner = [this](const Token&) { return done_; };
    const Work outer = [&](const Token&) {
      EXPECT_EQ(run_once(transaction.session(), intent("k"), {}, inner).ending, Ending::ran);
      return done_;
    };
    EXPECT_THROW(run_once(transaction.session(), intent("k"), {}, outer), std::logic_error);
  }
  EXPECT_EQ(database_.operations(), 0);
}

}  // namespace
}  // namespace stet::library
