// A POST of a cpp-httplib service, made safe to retry. What was there before is plain; what Stet adds is marked.
//
//   example_02_cpp_httplib FILE [PORT]      serves on 127.0.0.1, on a free port where none is given, which it prints

#include <httplib.h>
#include <sqlite3.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "stet/http/httplib.hpp"     // Stet
#include "stet/http/idempotent.hpp"  // Stet
#include "stet/sqlite/pool.hpp"      // Stet

namespace {

constexpr const char* kTables =
    "PRAGMA journal_mode = WAL;"
    "CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, account TEXT NOT NULL, item TEXT NOT NULL);";

void create_tables(const std::string& path) {
  sqlite3* db = nullptr;
  if (sqlite3_open(path.c_str(), &db) != SQLITE_OK || sqlite3_exec(db, kTables, nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw std::runtime_error("cannot prepare " + path);
  }
  sqlite3_close(db);
}

// The handler: plain SQLite, on a connection on which a transaction is open.
stet::http::Response create_order(sqlite3* db, const std::string& account, const std::string& item) {
  if (item.empty()) return {422, {{"Content-Type", "text/plain"}}, "an order needs an item\n"};
  sqlite3_stmt* insert = nullptr;
  if (sqlite3_prepare_v2(db, "INSERT INTO orders (account, item) VALUES (?1, ?2)", -1, &insert, nullptr) != SQLITE_OK) {
    throw std::runtime_error(sqlite3_errmsg(db));
  }
  sqlite3_bind_text(insert, 1, account.c_str(), -1, SQLITE_TRANSIENT);
  sqlite3_bind_text(insert, 2, item.c_str(), -1, SQLITE_TRANSIENT);
  const int code = sqlite3_step(insert);
  sqlite3_finalize(insert);
  if (code != SQLITE_DONE) throw std::runtime_error(sqlite3_errmsg(db));  // rolls back; nothing is recorded
  const std::string id = std::to_string(sqlite3_last_insert_rowid(db));
  return {201, {{"Content-Type", "text/plain"}, {"Location", "/orders/" + id}}, "order " + id + "\n"};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) return std::fprintf(stderr, "usage: %s FILE [PORT]\n", argv[0]), 2;
  create_tables(argv[1]);

  stet::sqlite::Pool pool(argv[1]);  // Stet: connections with a transaction each, and Stet's tables
  const auto account = stet::http::scope_of_header("X-Account");  // Stet: whose key it is. In earnest: of your login

  const auto safe_create = stet::http::idempotent(                // Stet: the same handler, safe to retry
      {.scope = account}, [&] { return pool.transaction(); },
      [&](const stet::http::Request& request, stet::sqlite::Transaction& transaction) {
        return create_order(transaction.handle(), account(request).value(), request.body);
      });

  httplib::Server server;
  server.Post("/orders", [&](const httplib::Request& in, httplib::Response& out) {
    stet::http::to_httplib(safe_create(stet::http::from_httplib(in)), out);  // Stet
  });
  const int wanted = argc == 3 ? std::stoi(argv[2]) : 0;
  const int port = wanted == 0 ? server.bind_to_any_port("127.0.0.1") : wanted;
  if (wanted != 0 && !server.bind_to_port("127.0.0.1", wanted)) return EXIT_FAILURE;
  std::printf("http://127.0.0.1:%d\n", port);
  std::fflush(stdout);
  return server.listen_after_bind() ? EXIT_SUCCESS : EXIT_FAILURE;
}
