// What run_once costs around a transaction of one row, against the same transaction bare.
//
//   run_once_bench sqlite FILE full|os SECONDS       a new file, in WAL mode
//   run_once_bench postgres CONNINFO SECONDS         a database that has the schema stet
//
// Bare and guarded transactions take turns, a hundred at a time, so that a drift of the machine meets both alike. Prints
// medians over all of them in microseconds, and where run_once's own time goes; for PostgreSQL also a bare round trip.

#include <libpq-fe.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "stet/postgres/transaction.hpp"
#include "stet/run_once.hpp"
#include "stet/sqlite/transaction.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Micros = std::chrono::duration<double, std::micro>;

struct Times {
  std::vector<double> all;
  void add(Clock::duration time) { all.push_back(std::chrono::duration_cast<Micros>(time).count()); }
  double median() {
    if (all.empty()) return 0;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
  }
};

// Passes everything on and keeps the time of it.
class TimedSession final : public stet::Session {
 public:
  explicit TimedSession(stet::Session& real) : real_(real) {}
  std::vector<Outcome> execute(std::span<const stet::Command> batch) override {
    const auto begin = Clock::now();
    auto outcomes = real_.execute(batch);
    (std::holds_alternative<stet::command::Claim>(batch[0]) ? claim : complete).add(Clock::now() - begin);
    return outcomes;
  }
  std::optional<stet::Record> find(const stet::OperationId& id) override { return real_.find(id); }
  stet::Page list(const stet::Filter& f, std::size_t limit, const std::string& cursor) override {
    return real_.list(f, limit, cursor);
  }
  std::string emit(const stet::Message& message) override { return real_.emit(message); }
  stet::Receipt receive(std::string_view source, std::string_view id) override { return real_.receive(source, id); }

  Times claim;
  Times complete;

 private:
  stet::Session& real_;
};

constexpr int kTurn = 100;

std::string new_key() {
  static unsigned long count = 0;
  return stet::OperationId::of("bench", std::to_string(count++) + "-" + std::to_string(Clock::now().time_since_epoch().count()))
      .text();
}

stet::RunResult guarded(stet::Session& session, const std::function<void()>& insert) {
  const stet::Intent intent{"bench", new_key(), stet::fingerprint_of("one row"), "POST", "/rows"};
  return stet::run_once(session, intent, {}, [&](const stet::Token&) {
    insert();
    return stet::Answer{201, {{"Content-Type", "application/json"}}, "{\"id\":42,\"state\":\"created\"}", stet::Kept::whole};
  });
}

struct Both {
  Times bare;
  Times with;
};
Both take_turns(double seconds, const std::function<void()>& bare, const std::function<void()>& with) {
  Both both;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (int turn = 0; Clock::now() < end || turn < 4; ++turn) {
    for (int i = 0; i < kTurn; ++i) {
      const auto begin = Clock::now();
      (turn % 2 == 0 ? bare : with)();
      if (turn >= 2) (turn % 2 == 0 ? both.bare : both.with).add(Clock::now() - begin);
    }
  }
  return both;
}

void print(const char* what, Both& both, TimedSession& timed, double round_trip) {
  const double bare = both.bare.median();
  const double with = both.with.median();
  std::printf("%s: bare %.1f us, run_once %.1f us, ratio %.2f, claim %.1f us, complete %.1f us", what, bare, with, with / bare,
              timed.claim.median(), timed.complete.median());
  if (round_trip > 0) std::printf(", round trip %.1f us, difference %.1f round trips", round_trip, (with - bare) / round_trip);
  std::printf(" (%zu of each)\n", both.bare.all.size());
}

void must(int code, sqlite3* db) {
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) throw std::runtime_error(sqlite3_errmsg(db));
}

void sqlite(const std::string& file, bool full, double seconds) {
  sqlite3* db = nullptr;
  must(sqlite3_open(file.c_str(), &db), db);
  must(sqlite3_exec(db, "PRAGMA journal_mode = WAL; CREATE TABLE rows (id INTEGER PRIMARY KEY, amount INTEGER, note TEXT)",
                    nullptr, nullptr, nullptr), db);
  must(sqlite3_exec(db, full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", nullptr, nullptr, nullptr), db);
  stet::sqlite::apply_schema(db);
  {
    stet::sqlite::Session session(db);
    TimedSession timed(session);
    sqlite3_stmt* statement = nullptr;
    must(sqlite3_prepare_v2(db, "INSERT INTO rows (amount, note) VALUES (4900, 'one row')", -1, &statement, nullptr), db);
    const auto insert = [&] {
      must(sqlite3_step(statement), db);
      sqlite3_reset(statement);
    };
    Both both = take_turns(
        seconds,
        [&] {
          stet::sqlite::Transaction transaction(db, session);
          insert();
          transaction.commit();
        },
        [&] {
          stet::sqlite::Transaction transaction(db, session);
          guarded(timed, insert);
          transaction.commit();
        });
    sqlite3_finalize(statement);
    print(full ? "sqlite, synced commits" : "sqlite, commits not synced", both, timed, 0);
  }
  sqlite3_close(db);
}

void run(PGconn* connection, const char* sql) {
  PGresult* const result = PQexec(connection, sql);
  const ExecStatusType status = PQresultStatus(result);
  PQclear(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw std::runtime_error(PQerrorMessage(connection));
}

void postgres(const std::string& conninfo, double seconds) {
  PGconn* const connection = PQconnectdb(conninfo.c_str());
  run(connection, "CREATE TABLE IF NOT EXISTS rows (id bigserial PRIMARY KEY, amount integer, note text)");
  const auto insert = [&] { run(connection, "INSERT INTO rows (amount, note) VALUES (4900, 'one row')"); };
  Times trips;
  for (int i = 0; i < 1000; ++i) {
    const auto begin = Clock::now();
    run(connection, "SELECT 1");
    trips.add(Clock::now() - begin);
  }
  stet::postgres::Session session(connection);
  TimedSession timed(session);
  Both both = take_turns(
      seconds,
      [&] {
        stet::postgres::Transaction transaction(connection);
        insert();
        transaction.commit();
      },
      [&] {
        stet::postgres::Transaction transaction(connection);
        guarded(timed, insert);
        transaction.commit();
      });
  print("postgres", both, timed, trips.median());
  PQfinish(connection);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string engine = argc > 1 ? argv[1] : "";
  if (engine == "sqlite" && argc == 5) {
    sqlite(argv[2], std::string(argv[3]) == "full", std::atof(argv[4]));
  } else if (engine == "postgres" && argc == 4) {
    postgres(argv[2], std::atof(argv[3]));
  } else {
    std::fprintf(stderr, "usage: run_once_bench sqlite FILE full|os SECONDS | postgres CONNINFO SECONDS\n");
    return 2;
  }
}
