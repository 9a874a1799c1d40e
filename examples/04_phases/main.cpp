// A payment that calls somebody else: claim, reserve, charge at the provider, tell. Kill it wherever you like and run it
// again: the provider charges once.
//
//   example_04_phases FILE KEY AMOUNT [die-after-reserving|die-after-charging]

#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <string>

#include "stet/phases.hpp"
#include "stet/sqlite/pool.hpp"

namespace {

void run(sqlite3* db, const std::string& sql) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(db));
}

// Somebody else's service, which keeps its own books and drops repeats of a key, as payment providers do. Here it is a file
// beside ours; the next step of the course has a real one, in a process of its own.
void charge_at_provider(const std::string& books, const std::string& key, const std::string& amount) {
  sqlite3* db = nullptr;
  sqlite3_open(books.c_str(), &db);
  run(db, "CREATE TABLE IF NOT EXISTS charges (key TEXT PRIMARY KEY, amount INTEGER NOT NULL)");
  run(db, "INSERT OR IGNORE INTO charges VALUES ('" + key + "', " + amount + ")");
  sqlite3_close(db);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return std::fprintf(stderr, "usage: %s FILE KEY AMOUNT [die-after-…]\n", argv[0]), 2;
  const std::string file = argv[1];
  const std::string amount = std::to_string(std::stol(argv[3]));
  const std::string fate = argc > 4 ? argv[4] : "";

  stet::sqlite::Pool pool(file);
  stet::Renewer renewer;  // keeps the lease of what runs, however long the provider takes
  {
    stet::sqlite::Transaction setup = pool.transaction();
    run(setup.handle(), "CREATE TABLE IF NOT EXISTS payments (operation TEXT PRIMARY KEY, amount INTEGER, state TEXT)");
    setup.commit();
  }

  const stet::Intent intent{"shop-7", argv[2], stet::fingerprint_of(amount), "payment", ""};
  const std::string operation = stet::OperationId::of(intent.scope, intent.key).text();
  stet::PhaseOptions options;
  options.lease = std::chrono::seconds(1);  // short: who is killed is soon succeeded, who lives renews

  const stet::RunResult result = stet::run_phases(pool, renewer, intent, options, {
    {"reserved",
     [&](stet::Running& op) {
       stet::sqlite::Transaction transaction = pool.transaction();
       run(transaction.handle(), "INSERT INTO payments VALUES ('" + operation + "', " + amount + ", 'reserved')");
       op.advance(transaction.session());
       transaction.commit();
       if (fate == "die-after-reserving") ::_exit(9);
     }},
    {"charged",
     [&](stet::Running& op) {
       // Outside any transaction, which must not be open while somebody else takes their time. May happen again after a
       // crash, and brings the same key then.
       charge_at_provider(file + ".provider", op.derive("charge"), amount);
       if (fate == "die-after-charging") ::_exit(9);
       stet::sqlite::Transaction transaction = pool.transaction();
       run(transaction.handle(), "UPDATE payments SET state = 'charged' WHERE operation = '" + operation + "'");
       op.advance(transaction.session());
       transaction.commit();
     }},
    {"told",
     [&](stet::Running& op) {
       stet::sqlite::Transaction transaction = pool.transaction();
       transaction.session().emit({.topic = "payment.charged", .payload = operation, .order_key = operation});
       op.complete(transaction.session(), {201, {}, "charged " + amount, stet::Kept::whole});
       transaction.commit();
     }},
  });

  if (result.ending == stet::Ending::refused) {
    std::printf("refused: %s\n", std::string(stet::name(result.shown.problem)).c_str());
    return 1;
  }
  std::printf("%s: %s\n", result.ending == stet::Ending::ran ? "done" : "done before", result.shown.answer.body.c_str());
}
