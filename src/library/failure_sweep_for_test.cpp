#include "library/failure_sweep_for_test.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace stet::library::failures {

using namespace std::chrono_literals;

namespace {

constexpr int kKilled = 9;
constexpr int kMostSteps = 100;

// A lease that a killed attempt leaves behind is waited for, not cut short.
constexpr milliseconds kLease = 150ms;

const Intent kIntent{"alice", "k", fingerprint_of("to bob: 100"), "POST", "/transfers"};

void roll_back_quietly(Bank& bank) {
  try {
    bank.roll_back();
  } catch (const std::exception&) {
    // The transaction is gone with whatever has failed.
  }
}

// The user's code of run_once.hpp's first comment, each step of it on the trip wire.
RunResult transfer_once(Bank& bank, Trip& trip) {
  try {
    trip.step([&] { bank.begin(); });
    TrippingSession session(bank.session(), trip);
    const RunResult result = run_once(session, kIntent, {}, [&](const Token&) {
      trip.step([&] { bank.run("UPDATE accounts SET money = money - 100 WHERE name = 'alice'"); });
      trip.step([&] { bank.run("UPDATE accounts SET money = money + 100 WHERE name = 'bob'"); });
      trip.step([&] { bank.run("INSERT INTO movements VALUES ('k', 100)"); });
      session.emit({.topic = "transferred", .payload = "k"});
      return Answer{201, {}, "moved 100", Kept::whole};
    });
    if (result.then() == Then::commit) {
      trip.step([&] { bank.commit(); });
    } else {
      roll_back_quietly(bank);
    }
    return result;
  } catch (...) {
    roll_back_quietly(bank);
    throw;
  }
}

void local(Bank& bank, Trip& trip, const std::function<void(Session&)>& work) {
  try {
    trip.step([&] { bank.begin(); });
    TrippingSession session(bank.session(), trip);
    work(session);
    trip.step([&] { bank.commit(); });
  } catch (...) {
    roll_back_quietly(bank);
    throw;
  }
}

// Holds the money, charges at the provider, books it.
RunResult transfer_in_phases(Bank& bank, const Provider& provider, Renewer& renewer, Trip& trip) {
  TrippingPool pool(bank.pool(), trip);
  PhaseOptions options;
  options.lease = kLease;
  const std::vector<Phase> phases{
      {"held",
       [&](Running& op) {
         local(bank, trip, [&](Session& session) {
           trip.step([&] { bank.run("UPDATE accounts SET money = money - 100 WHERE name = 'alice'"); });
           op.advance(session);
         });
       }},
      {"charged",
       [&](Running& op) {
         trip.step([&] { provider.charge(op.derive("charge")); });
         local(bank, trip, [&](Session& session) {
           trip.step([&] { bank.run("INSERT INTO movements VALUES ('k', 100)"); });
           op.advance(session);
         });
       }},
      {"booked", [&](Running& op) {
         local(bank, trip, [&](Session& session) {
           trip.step([&] { bank.run("UPDATE accounts SET money = money + 100 WHERE name = 'bob'"); });
           op.complete(session, Answer{201, {}, "moved 100", Kept::whole});
         });
       }}};
  return run_phases(pool, renewer, kIntent, options, phases);
}

// One run with a fault; in a child of its own where the fault kills. Whether the fault was met.
using Run = std::function<RunResult(Bank&, Trip&)>;
bool run_with(Town& town, Fault fault, int at, const Run& run) {
  const bool kills = fault == Fault::kill_before || fault == Fault::kill_after;
  if (!kills) {
    Trip trip(fault, at);
    const auto bank = town.open();
    try {
      run(*bank, trip);
    } catch (const StoreError&) {
      // The caller of a service would hear 503 now, and send the same again.
    }
    return trip.tripped();
  }
  const pid_t child = ::fork();
  if (child == 0) {
    Trip trip(fault, at);
    const auto bank = town.open();
    run(*bank, trip);
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "the child did not end by itself: " << status;
  EXPECT_TRUE(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kKilled) << WEXITSTATUS(status);
  return WEXITSTATUS(status) == kKilled;
}

// The caller's retries until there is an answer.
RunResult recover(Bank& bank, const Run& run) {
  const auto patience = std::chrono::steady_clock::now() + 30s;
  for (;;) {
    Trip none = Trip::never();
    RunResult result = run(bank, none);
    if (result.ending != Ending::refused || std::chrono::steady_clock::now() > patience) return result;
    EXPECT_EQ(result.shown.problem, Problem::in_progress);
    std::this_thread::sleep_for(20ms);
  }
}

void check_the_money(Bank& bank) {
  const int movements = bank.number("SELECT count(*) FROM movements");
  EXPECT_LE(movements, 1);
  EXPECT_EQ(bank.number("SELECT sum(money) FROM accounts"), 1000);
}

void check_one_effect(Bank& bank) {
  EXPECT_EQ(bank.number("SELECT count(*) FROM movements"), 1);
  EXPECT_EQ(bank.number("SELECT money FROM accounts WHERE name = 'alice'"), 900);
  EXPECT_EQ(bank.number("SELECT money FROM accounts WHERE name = 'bob'"), 100);
}

// At every step, until a run meets no more.
void at_every_step(Fault fault, const std::function<bool(int at)>& one) {
  int at = 1;
  while (at < kMostSteps && one(at)) ++at;
  EXPECT_GT(at, 5) << name(fault) << ": hardly a step was met";
  EXPECT_LT(at, kMostSteps) << name(fault) << ": there was no end of steps";
}

constexpr Fault kFaults[] = {Fault::error_before, Fault::error_after, Fault::kill_before, Fault::kill_after};

}  // namespace

std::string name(Fault fault) {
  switch (fault) {
    case Fault::error_before: return "error before";
    case Fault::error_after: return "lost reply";
    case Fault::kill_before: return "kill before";
    case Fault::kill_after: return "kill after";
  }
  return "?";
}

void Trip::fail() const {
  if (fault_ == Fault::kill_before || fault_ == Fault::kill_after) ::_exit(kKilled);
  throw StoreError(StoreFailure::unavailable, "this step has failed on purpose");
}

void sweep_run_once(const std::function<std::unique_ptr<Town>()>& make_town) {
  for (const Fault fault : kFaults) {
    at_every_step(fault, [&](int at) {
      SCOPED_TRACE(name(fault) + " at step " + std::to_string(at));
      const auto town = make_town();
      const bool met = run_with(*town, fault, at, transfer_once);
      const auto bank = town->open();
      check_the_money(*bank);
      const bool completed = bank->number("SELECT count(*) FROM movements") == 1;
      const RunResult result = recover(*bank, transfer_once);
      EXPECT_EQ(result.ending, completed ? Ending::replayed : Ending::ran);
      check_one_effect(*bank);
      EXPECT_EQ(recover(*bank, transfer_once).shown.answer.body, "moved 100");
      EXPECT_EQ(recover(*bank, transfer_once).ending, Ending::replayed);
      check_one_effect(*bank);
      return met;
    });
  }
}

void sweep_phases(const std::function<std::unique_ptr<Town>()>& make_town) {
  for (const Fault fault : kFaults) {
    at_every_step(fault, [&](int at) {
      SCOPED_TRACE(name(fault) + " at step " + std::to_string(at));
      const auto town = make_town();
      const stores::sqlite::TestFile providers_file;
      const Provider provider(providers_file.path());
      const Run run = [&provider](Bank& bank, Trip& trip) {
        Renewer renewer;
        return transfer_in_phases(bank, provider, renewer, trip);
      };
      const bool met = run_with(*town, fault, at, run);
      EXPECT_LE(provider.charges(), 1);
      const auto bank = town->open();
      const RunResult result = recover(*bank, run);
      EXPECT_TRUE(result.ending == Ending::ran || result.ending == Ending::replayed);
      check_one_effect(*bank);
      EXPECT_EQ(provider.charges(), 1);
      EXPECT_EQ(recover(*bank, run).shown.answer.body, "moved 100");
      EXPECT_EQ(recover(*bank, run).ending, Ending::replayed);
      check_one_effect(*bank);
      EXPECT_EQ(provider.charges(), 1);
      return met;
    });
  }
}

namespace {

int ask(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  int value = -1;
  const auto first = [](void* to, int, char** columns, char**) {
    *static_cast<int*>(to) = std::atoi(columns[0]);
    return 0;
  };
  EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  const std::string all = "PRAGMA synchronous = OFF; CREATE TABLE IF NOT EXISTS charges (key TEXT PRIMARY KEY);" + sql;
  EXPECT_EQ(sqlite3_exec(handle, all.c_str(), first, &value, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
  sqlite3_close(handle);
  return value;
}

}  // namespace

void Provider::charge(const std::string& key) const {
  ask(path_, "INSERT OR IGNORE INTO charges VALUES ('" + key + "');");
}

int Provider::charges() const {
  return ask(path_, "SELECT count(*) FROM charges;");
}

}  // namespace stet::library::failures
