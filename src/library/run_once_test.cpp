#include "stet/run_once.hpp"

#include <latch>
#include <thread>

#include "library/sqlite_for_test.hpp"
#include "stet/sqlite/transaction.hpp"

namespace stet::library {
namespace {

class RunOnce : public testing::Test {
 protected:
  // As the header shows it: the transaction is the caller's.
  RunResult charge_once(UsersDatabase& database, const Intent& intent, int amount = 4900) {
    return run(database, intent, [&](const Token&) {
      database.charge(amount);
      return Answer{
          201, {{"Location", "/charges/1"}}, "{\"amount\":" + std::to_string(amount) + "}", Kept::whole};
    });
  }
  static RunResult run(UsersDatabase& database, const Intent& intent, const Work& work,
                       const RunOptions& options = {}) {
    database.run("BEGIN IMMEDIATE");
    try {
      RunResult result = run_once(database.session(), intent, options, work);
      database.run(result.then() == Then::commit ? "COMMIT" : "ROLLBACK");
      return result;
    } catch (...) {
      database.run("ROLLBACK");
      throw;
    }
  }

  stores::sqlite::TestFile file_;
  UsersDatabase database_{file_.path()};
};

TEST_F(RunOnce, runs_the_first_time_and_shows_the_same_answer_again) {
  const RunResult first = charge_once(database_, intent("k"));
  EXPECT_EQ(first.ending, Ending::ran);
  EXPECT_EQ(first.shown.outcome, Outcome::completed);
  EXPECT_TRUE(first.shown.replayable_until);
  for (int i = 0; i < 2; ++i) {
    const RunResult again = charge_once(database_, intent("k"));
    EXPECT_EQ(again.ending, Ending::replayed);
    EXPECT_EQ(again.then(), Then::roll_back);
    EXPECT_EQ(again.shown.answer, first.shown.answer);
  }
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(RunOnce, keeps_keys_of_different_scopes_apart) {
  for (int i = 0; i < 2; ++i) {
    charge_once(database_, intent("k", "4900", "alice"));
    charge_once(database_, intent("k", "4900", "bob"));
  }
  EXPECT_EQ(database_.charges(), 2);
}

TEST_F(RunOnce, refuses_the_key_for_another_request) {
  charge_once(database_, intent("k"));
  for (int i = 0; i < 2; ++i) {
    const RunResult other = charge_once(database_, intent("k", "9900"), 9900);
    EXPECT_EQ(other.ending, Ending::refused);
    EXPECT_EQ(other.shown.problem, Problem::key_reused);
  }
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(RunOnce, records_nothing_when_the_work_throws) {
  const Work work = [&](const Token&) -> std::optional<Answer> {
    database_.charge(4900);
    throw std::runtime_error("no more paper");
  };
  for (int i = 0; i < 2; ++i) EXPECT_THROW(run(database_, intent("k"), work), std::runtime_error);
  EXPECT_EQ(database_.charges(), 0);
  EXPECT_EQ(database_.operations(), 0);
  EXPECT_EQ(charge_once(database_, intent("k")).ending, Ending::ran);
}

TEST_F(RunOnce, records_nothing_when_the_work_declines) {
  for (const auto& answer : {std::optional<Answer>(), std::optional(Answer{503, {}, "later", Kept::whole}),
                             std::optional(Answer{429, {}, "slower", Kept::whole})}) {
    const RunResult declined = run(database_, intent("k"), [&](const Token&) {
      database_.charge(4900);
      return answer;
    });
    EXPECT_EQ(declined.ending, Ending::declined);
    EXPECT_EQ(declined.shown.outcome, Outcome::not_executed);
    EXPECT_EQ(declined.shown.answer, answer.value_or(Answer{}));
    EXPECT_EQ(database_.charges(), 0);
    EXPECT_EQ(database_.operations(), 0);
  }
  EXPECT_EQ(charge_once(database_, intent("k")).ending, Ending::ran);
}

TEST_F(RunOnce, leaves_the_key_free_even_where_a_caller_commits_what_was_declined) {
  database_.run("BEGIN IMMEDIATE");
  EXPECT_EQ(run_once(database_.session(), intent("k"), {}, [](const Token&) { return std::nullopt; }).ending,
            Ending::declined);
  database_.run("COMMIT");
  EXPECT_EQ(database_.operations(), 0);
  EXPECT_EQ(charge_once(database_, intent("k")).ending, Ending::ran);
}

TEST_F(RunOnce, keeps_a_refusal_of_the_work_as_its_answer) {
  const Work no_money = [](const Token&) { return Answer{402, {}, "no money", Kept::whole}; };
  EXPECT_EQ(run(database_, intent("k"), no_money).ending, Ending::ran);
  const RunResult again = charge_once(database_, intent("k"));
  EXPECT_EQ(again.ending, Ending::replayed);
  EXPECT_EQ(again.shown.answer.status, 402);
  EXPECT_EQ(database_.charges(), 0);
}

TEST_F(RunOnce, refuses_to_work_outside_a_transaction) {
  bool ran = false;
  const Work work = [&](const Token&) {
    ran = true;
    return Answer{};
  };
  try {
    run_once(database_.session(), intent("k"), {}, work);
    FAIL() << "it went on";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreFailure::not_written);
  }
  EXPECT_FALSE(ran);
  EXPECT_THROW(database_.session().emit({"t", "p", {}, {}}), StoreError);
  EXPECT_THROW(database_.session().receive("s", "e"), StoreError);
}

TEST_F(RunOnce, judges_a_record_of_an_older_recipe_by_that_recipe) {
  Intent old = intent("k");
  old.fingerprint.recipe = "old";
  charge_once(database_, old);
  RunOptions options;
  options.refingerprint = [&](const Recipe& recipe) -> std::optional<Fingerprint> {
    if (recipe == "old") return old.fingerprint;
    return std::nullopt;
  };
  const Work never = [](const Token&) -> std::optional<Answer> { throw std::logic_error("it ran"); };
  EXPECT_EQ(run(database_, intent("k"), never, options).ending, Ending::replayed);
  EXPECT_EQ(run(database_, intent("k"), never).shown.problem, Problem::key_reused);
}

TEST_F(RunOnce, says_that_the_key_has_expired) {
  charge_once(database_, intent("k"));
  database_.run("UPDATE stet_operations SET expires_ms = 1");
  database_.run("BEGIN IMMEDIATE");
  const Command sweep = command::Sweep{};
  database_.session().execute({&sweep, 1});
  database_.run("COMMIT");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(charge_once(database_, intent("k")).shown.problem, Problem::key_expired);
  }
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(RunOnce, says_that_a_damaged_record_is_damaged_and_runs_nothing) {
  charge_once(database_, intent("k"));
  database_.run("UPDATE stet_operations SET fingerprint = x'00'");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(charge_once(database_, intent("k")).shown.problem, Problem::store_corrupt);
  }
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(RunOnce, says_which_tables_are_missing) {
  database_.run("DROP TABLE stet_operations");
  try {
    charge_once(database_, intent("k"));
    FAIL() << "it went on";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreFailure::incompatible);
    EXPECT_NE(std::string(error.what()).find("apply_schema"), std::string::npos);
  }
}

TEST_F(RunOnce, leaves_all_of_it_or_nothing_however_little_room_the_file_has) {
  const std::string much(30'000, 'x');
  const auto rows = [&] {
    return database_.charges() + database_.operations() +
           database_.number("SELECT count(*) FROM stet_outbox");
  };
  const Work work = [&](const Token&) {
    if (sqlite3_exec(database_.handle(), "INSERT INTO charges VALUES (1, 4900)", nullptr, nullptr, nullptr) !=
        SQLITE_OK) {
      throw StoreError(StoreFailure::full, sqlite3_errmsg(database_.handle()));
    }
    database_.session().emit({.topic = "charged", .payload = much});
    return Answer{201, {}, much, Kept::whole};
  };
  int refused = 0;
  for (int pages = database_.number("PRAGMA page_count"); rows() == 0; ++pages) {
    database_.run("PRAGMA max_page_count = " + std::to_string(pages));
    try {
      sqlite::Transaction transaction(database_.handle(), database_.session());
      EXPECT_EQ(run_once(database_.session(), intent("k"), {}, work).ending, Ending::ran);
      transaction.commit();
    } catch (const StoreError& error) {
      EXPECT_EQ(error.kind(), StoreFailure::full) << error.what();
      ASSERT_EQ(rows(), 0) << "at " << pages << " pages";
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
  EXPECT_EQ(rows(), 3);
}

// A claim that was committed by mistake, without its answer: what the work had done by then was committed
// with it.
TEST_F(RunOnce, runs_no_second_time_after_a_claim_that_was_committed_without_an_answer) {
  const Work fails = [&](const Token&) -> std::optional<Answer> {
    database_.charge(4900);
    throw std::runtime_error("oops");
  };
  database_.run("BEGIN IMMEDIATE");
  EXPECT_THROW(run_once(database_.session(), intent("k"), {}, fails), std::runtime_error);
  database_.run("COMMIT");
  EXPECT_EQ(database_.operations(), 1);
  for (int i = 0; i < 2; ++i) {
    const RunResult again = charge_once(database_, intent("k"));
    EXPECT_EQ(again.ending, Ending::refused);
    EXPECT_EQ(again.shown.problem, Problem::outcome_unknown);
  }
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(RunOnce, runs_once_when_many_send_the_same_at_once) {
  constexpr int kCallers = 8;
  std::latch go(kCallers);
  std::atomic<int> ran = 0;
  std::atomic<int> replayed = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&] {
        UsersDatabase mine(file_.path());
        go.arrive_and_wait();
        for (int key = 0; key < 10; ++key) {
          const RunResult result = charge_once(mine, intent("k" + std::to_string(key)));
          if (result.ending == Ending::ran) ++ran;
          if (result.ending == Ending::replayed) ++replayed;
        }
      });
    }
  }
  EXPECT_EQ(ran, 10);
  EXPECT_EQ(replayed, kCallers * 10 - 10);
  EXPECT_EQ(database_.charges(), 10);
}

TEST_F(RunOnce, tells_others_with_the_commit_and_not_without) {
  const Work work = [&](const Token&) {
    database_.session().emit({"charged", "{\"amount\":4900}", "customer-7", {{"trace", "a\"b"}}});
    return Answer{201, {}, "", Kept::whole};
  };
  for (int i = 0; i < 2; ++i) run(database_, intent("k"), work);
  EXPECT_EQ(database_.number("SELECT count(*) FROM stet_outbox"), 1);
  EXPECT_EQ(database_.number(
                "SELECT count(*) FROM stet_outbox WHERE topic = 'charged' AND order_key = 'customer-7' AND "
                "CAST(payload AS TEXT) = '{\"amount\":4900}' AND json_extract(headers, '$[0][1]') = 'a\"b'"),
            1);
  const Work fails = [&](const Token&) -> std::optional<Answer> {
    database_.session().emit({"charged", "", {}, {}});
    return std::nullopt;
  };
  run(database_, intent("k2"), fails);
  EXPECT_EQ(database_.number("SELECT count(*) FROM stet_outbox"), 1);
}

TEST_F(RunOnce, receives_an_event_once_by_its_own_id) {
  for (int i = 0; i < 2; ++i) {
    sqlite::Transaction transaction(database_.handle(), database_.session());
    EXPECT_EQ(transaction.session().receive("provider", "evt_1"), Receipt::first);
    EXPECT_EQ(transaction.session().receive("provider", "evt_1"), Receipt::repeat);
    EXPECT_EQ(transaction.session().receive("another", "evt_1"), Receipt::first);
    if (i == 1) transaction.commit();  // the first time the consumer died before its commit
  }
  sqlite::Transaction transaction(database_.handle(), database_.session());
  EXPECT_EQ(transaction.session().receive("provider", "evt_1"), Receipt::repeat);
}

}  // namespace
}  // namespace stet::library
