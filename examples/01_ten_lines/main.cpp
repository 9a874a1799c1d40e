// Ten lines: a transaction of yours that is safe to run again. Run it twice with the same key: one order, one answer.
//
//   example_01_ten_lines orders.db order-1 4900

#include <sqlite3.h>

#include <cstdio>
#include <string>

#include "stet/run_once.hpp"
#include "stet/sqlite/transaction.hpp"

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: %s FILE KEY AMOUNT\n", argv[0]), 2;
  const std::string key = argv[2];
  const std::string amount = argv[3];

  // As in any program with SQLite.
  sqlite3* db = nullptr;
  if (sqlite3_open(argv[1], &db) != SQLITE_OK) return std::fprintf(stderr, "cannot open %s\n", argv[1]), 1;
  sqlite3_busy_timeout(db, 5000);
  sqlite3_exec(db, "CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL)", nullptr, nullptr,
               nullptr);
  stet::sqlite::apply_schema(db);

  {
    // The ten lines. A key belongs to somebody ("shop-7"), and stands for one intent: the same amount.
    stet::sqlite::Session session(db);
    stet::sqlite::Transaction transaction(db, session);
    const stet::Intent intent{"shop-7", key, stet::fingerprint_of(amount), "order", ""};
    const stet::RunResult result = stet::run_once(session, intent, {}, [&](const stet::Token&) {
      sqlite3_exec(db, ("INSERT INTO orders (amount) VALUES (" + std::to_string(std::stol(amount)) + ")").c_str(), nullptr,
                   nullptr, nullptr);
      return stet::Answer{201, {}, "order " + std::to_string(sqlite3_last_insert_rowid(db)), stet::Kept::whole};
    });
    if (result.then() == stet::Then::commit) transaction.commit();  // else it rolls back

    switch (result.ending) {
      case stet::Ending::ran: std::printf("done: %s\n", result.shown.answer.body.c_str()); break;
      case stet::Ending::replayed: std::printf("done before: %s\n", result.shown.answer.body.c_str()); break;
      default: std::printf("refused: %s\n", std::string(stet::name(result.shown.problem)).c_str()); break;
    }
  }
  sqlite3_close(db);
}
