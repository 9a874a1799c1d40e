// A service's write without its network: the same request three times, and one order.
#include <sqlite3.h>
#include <stet/completer.hpp>
#include <stet/derive.hpp>
#include <stet/http/idempotent.hpp>
#include <stet/sqlite/pool.hpp>
#include <stet/sweeper.hpp>
#include <stet/version.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  stet::sqlite::Pool pool(argv[1]);
  const auto create = stet::http::idempotent(
      {.scope = stet::http::one_scope()}, [&] { return pool.transaction(); },
      [](const stet::http::Request&, stet::sqlite::Transaction& transaction) {
        sqlite3_exec(transaction.handle(), "CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY)", nullptr, nullptr,
                     nullptr);
        sqlite3_exec(transaction.handle(), "INSERT INTO orders DEFAULT VALUES", nullptr, nullptr, nullptr);
        return stet::http::Response{201, {}, std::to_string(sqlite3_last_insert_rowid(transaction.handle()))};
      });
  for (int i = 0; i < 3; ++i) {
    const auto answer = create({"POST", "/orders", {{"Idempotency-Key", "k"}}, "{}"});
    std::printf("%d order %s\n", answer.status, answer.body.c_str());
  }
  stet::Renewer renewer;
  stet::Completer completer(pool, renewer, [](const stet::Record&) { return std::nullopt; });
  stet::Sweeper sweeper(pool);
  std::printf("completed %zu, swept %zu\n", completer.run_once(), sweeper.run_once().expired);
  std::printf("version %.*s\n", static_cast<int>(stet::kVersion.size()), stet::kVersion.data());
}
