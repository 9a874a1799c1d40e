// Connections that break, servers that are silent, and errors that concern one command of many.

#include <signal.h>

#include <future>
#include <map>
#include <thread>

#include "stores/commands_for_test.hpp"
#include "stores/committer/committer.hpp"
#include "stores/postgres/database_for_test.hpp"
#include "stores/postgres/link.hpp"

namespace stet::stores::postgres {
namespace {

using namespace std::chrono_literals;

// The processes that serve this database's clients, but for the one that asks.
constexpr const char* kBackends =
    "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = "
    "'client backend'";

// Until their processes, and with them the connections, are gone.
void end_backends(const TestDatabase& database) {
  database.sql(std::string("SELECT pg_terminate_backend(pid, 20000) ") + kBackends);
}

// How many backends wait for a lock, once it is as many as expected, or when that takes too long.
std::string lock_waiters(const TestDatabase& database, const std::string& expected) {
  const auto end = std::chrono::steady_clock::now() + 30s;
  std::string waiting;
  do {
    waiting = database.sql(std::string("SELECT count(*) ") + kBackends + " AND wait_event_type = 'Lock'");
  } while (waiting != expected && std::chrono::steady_clock::now() < end);
  return waiting;
}

StoreFailure thrown_by(Store& store, const Command& command) {
  try {
    store.execute({&command, 1});
  } catch (const StoreError& error) {
    return error.kind();
  }
  ADD_FAILURE() << "nothing was thrown";
  return StoreFailure::corrupt;
}

// What is thrown counts as what the command was told.
Store::Outcome tried(Store& store, const Command& command) {
  try {
    return run(store, command);
  } catch (const StoreError& error) {
    return Store::Failed{error.kind(), error.what()};
  }
}

// Until the store does not fail, as it may for a moment after an outage.
Store::Outcome repeated(Store& store, const Command& command) {
  const auto end = std::chrono::steady_clock::now() + 30s;
  Store::Outcome said = tried(store, command);
  while (failure(said) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(10ms);
    said = tried(store, command);
  }
  return said;
}

TEST(Outages, notice_an_idle_connection_that_was_closed_before_anything_is_sent) {
  const TestDatabase database;
  const auto store = open_one(database);
  for (int i = 0; i < 5; ++i) {
    end_backends(database);
    EXPECT_NE(as<result::Claimed>(run(*store, claim_of("k" + std::to_string(i)))), nullptr);
  }
}

// The backend of a store's one connection, from now on until its end.
class StandsStill {
 public:
  StandsStill(const TestDatabase& database, Store& store) {
    EXPECT_NE(as<result::Claimed>(repeated(store, claim_of("before"))), nullptr);
    backend_ = std::stoi(database.sql(std::string("SELECT pid ") + kBackends));
    EXPECT_EQ(::kill(backend_, SIGSTOP), 0);
  }
  ~StandsStill() { go_on(); }
  StandsStill(const StandsStill&) = delete;
  StandsStill& operator=(const StandsStill&) = delete;
  void go_on() const { ::kill(backend_, SIGCONT); }

 private:
  pid_t backend_ = 0;
};

Options impatient() {
  Options options;
  options.operation_time = 300ms;
  return options;
}

// A server that answers too late: the outcome is unknown, and the nonce tells what it was.
TEST(Outages, leave_a_silent_server_in_time_and_find_their_own_claim_by_its_nonce) {
  const TestDatabase database;
  const auto store = open_one(database, impatient());
  const StandsStill backend(database, *store);
  const auto c = claim_of("k");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(thrown_by(*store, c), StoreFailure::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  backend.go_on();
  // On a new connection. It never is in progress with nobody but itself.
  EXPECT_NE(as<result::Claimed>(repeated(*store, c)), nullptr);
  EXPECT_NE(as<result::Ok>(repeated(*store, completion_of(c))), nullptr);
}

// Nobody owns what a claim leaves that is carried out after it was withdrawn: its key would be unknown for ever.
TEST(Outages, do_not_call_a_claim_withdrawn_while_the_server_may_still_be_at_it) {
  const TestDatabase database;
  const auto store = open_one(database, impatient());
  const StandsStill backend(database, *store);
  const auto c = claim_of("k");
  EXPECT_EQ(thrown_by(*store, c), StoreFailure::unavailable);
  const command::Release withdrawal{token_of(c)};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(failure(tried(*store, withdrawal)));
  backend.go_on();
  // Freed now, or by a withdrawal that was not heard of.
  const Store::Outcome said = repeated(*store, withdrawal);
  EXPECT_TRUE(as<result::Ok>(said) != nullptr || as<result::Fenced>(said) != nullptr);
  EXPECT_NE(as<result::Fenced>(repeated(*store, withdrawal)), nullptr);
  EXPECT_FALSE(store->find(token_of(c).id()));
  const Store::Outcome after = repeated(*store, claim_of("k"));
  const auto* const next = as<result::Claimed>(after);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->attempt, 1U);
}

// A server that waits for a standby holds each operation with its connection: they must not eat up
// max_connections, and the end of the wait must be noticed at once.
TEST(Outages, leave_only_a_few_connections_with_a_server_that_does_not_answer) {
  const TestDatabase database;
  Options options;
  options.operation_time = 150ms;
  const auto store = open_one(database, options);
  {
    Connection locker = database.connect();
    locker.run("BEGIN; LOCK TABLE stet.operations IN ACCESS EXCLUSIVE MODE");
    int unknown = 0;
    for (int i = 0; i < 60 || (unknown < 3 && i < 2000); ++i) {
      unknown += thrown_by(*store, claim_of("k" + std::to_string(i))) == StoreFailure::unavailable ? 1 : 0;
      std::this_thread::sleep_for(10ms);
    }
    EXPECT_EQ(unknown, 3);
    EXPECT_EQ(lock_waiters(database, "3"), "3");
    locker.run("COMMIT");
  }
  EXPECT_NE(as<result::Claimed>(repeated(*store, claim_of("after"))), nullptr) << "it does not go on";
}

TEST(Outages, refuse_at_once_while_nobody_is_there_and_go_on_by_themselves) {
  const TestDatabase database;
  const auto store = open_one(database);
  Connection admin = Connection::open(test_server(), 20s);
  admin.run(("ALTER DATABASE " + database.name() + " ALLOW_CONNECTIONS false").c_str());
  admin.run(
      ("SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE datname = '" + database.name() + "'").c_str());
  const auto c = claim_of("k");
  for (int i = 0; i < 50; ++i) EXPECT_EQ(thrown_by(*store, c), StoreFailure::not_written);
  EXPECT_THROW(store->find(token_of(c).id()), StoreError);
  admin.run(("ALTER DATABASE " + database.name() + " ALLOW_CONNECTIONS true").c_str());
  for (int twice = 0; twice < 2; ++twice) EXPECT_NE(as<result::Claimed>(repeated(*store, c)), nullptr);
}

// A list over many rows must not go on at the server when nobody waits for it any more, and is no reason to
// refuse claims.
TEST(Outages, stop_a_list_that_takes_too_long) {
  const TestDatabase database;
  Options options;
  options.listing_time = 500ms;
  const auto store = open_one(database, options);
  run(*store, claim_of("k"));
  Connection locker = database.connect();
  locker.run("BEGIN; LOCK TABLE stet.operations IN ACCESS EXCLUSIVE MODE");
  for (int i = 0; i < 3; ++i) EXPECT_THROW(store->list({}, 10, ""), StoreError);
  EXPECT_EQ(lock_waiters(database, "0"), "0");
  locker.run("COMMIT");
  EXPECT_NE(as<result::Claimed>(run(*store, claim_of("another"))), nullptr);
  EXPECT_EQ(store->list({}, 10, "").records.size(), 2U);
}

// Every claim that was granted is there, each key was granted once, and the store recovers each time.
TEST(Outages, lose_and_double_nothing_when_backends_are_killed_under_load) {
  const TestDatabase database;
  Options options;
  options.connections = 3;
  Committer committer(open(database.url(), options));
  std::atomic<bool> stop{false};
  std::atomic<int> completed{0};
  std::atomic<int> in_doubt{0};
  std::vector<std::thread> callers;
  const auto call = [&](const Command& command) {
    std::promise<Store::Outcome> told;
    committer.submit(command, [&](Store::Outcome said) { told.set_value(std::move(said)); });
    return told.get_future().get();
  };
  const auto until_answered = [&](const Command& command) {
    for (;;) {
      Store::Outcome outcome = call(command);
      if (!failure(outcome)) return outcome;
      in_doubt += *failure(outcome) == StoreFailure::unavailable ? 1 : 0;
      std::this_thread::sleep_for(5ms);
    }
  };
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&, t] {
      for (int i = 0; !stop; ++i) {
        const auto c = claim_of(std::to_string(t) + "." + std::to_string(i));
        EXPECT_NE(as<result::Claimed>(until_answered(c)), nullptr);
        EXPECT_NE(as<result::Ok>(until_answered(completion_of(c))), nullptr);
        ++completed;
      }
    });
  }
  for (int i = 0; i < 15; ++i) {
    const int before = completed;
    std::this_thread::sleep_for(100ms);
    const auto patience = std::chrono::steady_clock::now() + 20s;
    while (completed == before && std::chrono::steady_clock::now() < patience) std::this_thread::sleep_for(5ms);
    EXPECT_GT(completed, before) << "it does not go on";
    database.sql(std::string("SELECT pg_terminate_backend(pid) ") + kBackends);
  }
  stop = true;
  for (auto& caller : callers) caller.join();
  committer.stop();
  EXPECT_EQ(database.sql("SELECT count(*) FROM stet.operations WHERE state = 1"), std::to_string(completed));
  EXPECT_EQ(database.sql("SELECT count(*) FROM stet.operations WHERE state <> 1"), "0");
}

TEST(Outages, refuse_alone_what_cannot_be_kept_as_text) {
  const TestDatabase database;
  const auto store = open_one(database);
  const auto c = claim_of("k");
  auto odd = claim_of("odd");
  odd.terms.scope_rule = "\xff";
  const std::vector<Command> batch{odd, c, command::Advance{token_of(c), std::string("a\0b", 3)}};
  const auto outcomes = store->execute(batch);
  EXPECT_EQ(failure(outcomes[0]), StoreFailure::not_written);
  EXPECT_NE(as<result::Claimed>(outcomes[1]), nullptr);
  EXPECT_EQ(failure(outcomes[2]), StoreFailure::not_written);
}

TEST(Outages, say_corrupt_for_a_damaged_row_and_serve_the_others) {
  const TestDatabase database;
  const auto store = open_one(database);
  for (const char* key : {"bad", "good"}) {
    const auto c = claim_of(key);
    run(*store, c);
    run(*store, completion_of(c));
  }
  for (const char* damage :
       {"headers = '[1]'", "headers = NULL", "status = NULL", "status = 7", "status = 1000", "status = -200"}) {
    database.sql("UPDATE stet.operations SET status = 201, headers = '[]' WHERE key = 'bad'");
    database.sql(std::string("UPDATE stet.operations SET ") + damage + " WHERE key = 'bad'");
    const auto anew = open_one(database);  // with nothing remembered
    const std::vector<Command> batch{claim_of("bad"), claim_of("good")};
    const auto outcomes = anew->execute(batch);
    EXPECT_EQ(failure(outcomes[0]), StoreFailure::corrupt) << damage;
    EXPECT_NE(as<result::Replay>(outcomes[1]), nullptr);
    EXPECT_THROW(anew->find(OperationId::of("scope", "bad")), StoreError) << damage;
    EXPECT_EQ(anew->list({}, 10, "").records.size(), 1U) << damage;
  }
}

// Replays need no round trip, also of answers that another gateway recorded, once they were seen.
TEST(Outages, do_not_keep_answers_from_being_replayed) {
  const TestDatabase database;
  const auto one = open_one(database);
  const auto other = open_one(database);
  const auto c = claim_of("k");
  run(*one, c);
  run(*one, completion_of(c));
  EXPECT_FALSE(other->peek(claim_of("k")));
  run(*other, claim_of("k"));
  database.sql("DROP SCHEMA stet CASCADE");
  for (Store* store : {one.get(), other.get()}) {
    const auto peeked = store->peek(claim_of("k"));
    ASSERT_TRUE(peeked);
    EXPECT_EQ(std::get<result::Replay>(*peeked).answer, answer_of("k"));
    EXPECT_EQ(thrown_by(*store, claim_of("k")), StoreFailure::not_written);
  }
}

TEST(Outages, raise_the_alarm_when_another_server_or_a_promoted_one_answers) {
  std::vector<std::string> alarms;
  Watch watch({}, [&](std::string_view line) { alarms.emplace_back(line); });
  watch.reached({"7000000000000000001", 1});
  watch.reached({"7000000000000000001", 1});
  watch.reached({std::nullopt, 1});  // not allowed to ask any more
  EXPECT_TRUE(alarms.empty());
  watch.reached({"7000000000000000001", 2});
  ASSERT_EQ(alarms.size(), 1U);
  EXPECT_NE(alarms[0].find("timeline 1 to 2"), std::string::npos);
  watch.reached({"7000000000000000002", 2});
  ASSERT_EQ(alarms.size(), 2U);
  EXPECT_NE(alarms[1].find("another PostgreSQL cluster"), std::string::npos);
}

TEST(Outages, are_told_to_the_operator_once_and_their_end_too) {
  const TestDatabase database;
  std::vector<std::string> lines;
  Options options;
  options.notice = [&](std::string_view line) { lines.emplace_back(line); };
  const auto store = open_one(database, options);
  lines.clear();
  database.sql("ALTER SCHEMA stet RENAME TO away");
  end_backends(database);
  for (int i = 0; i < 5; ++i) thrown_by(*store, claim_of("k"));
  ASSERT_EQ(lines.size(), 1U);
  database.sql("ALTER SCHEMA away RENAME TO stet");
  EXPECT_NE(as<result::Claimed>(repeated(*store, claim_of("k"))), nullptr);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines.back(), "PostgreSQL answers again");
}

}  // namespace
}  // namespace stet::stores::postgres
