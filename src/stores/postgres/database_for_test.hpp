#pragma once
// A database of a test's own on the server of tests/support/postgres.py, gone at its end.

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include "stores/commands_for_test.hpp"
#include "stores/postgres/connection.hpp"
#include "stores/postgres/postgres_store.hpp"

namespace stet::stores::postgres {

// host=… port=… user=… of a superuser, without a database.
inline std::string test_server() {
  const char* const said = std::getenv("STET_TEST_POSTGRES");
  if (said == nullptr) {
    ADD_FAILURE() << "STET_TEST_POSTGRES names no server: run this by ctest, or python3 "
                     "tests/support/postgres.py up DIR";
    std::abort();
  }
  return said;
}

class TestDatabase {
 public:
  TestDatabase() : name_("stet_test_" + std::to_string(::getpid()) + "_" + std::to_string(count_++)) {
    admin("CREATE DATABASE " + name_);
  }
  // On a loaded machine those who are told to leave may be there when the server has waited for them for five
  // seconds.
  ~TestDatabase() {
    for (int tries = 1;; ++tries) {
      try {
        admin("DROP DATABASE " + name_ + " WITH (FORCE)");
        return;
      } catch (const PgError& error) {
        if (tries < 6 && error.sqlstate() == "55006") continue;
        ADD_FAILURE() << error.what();
        return;
      }
    }
  }
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;

  const std::string& name() const { return name_; }
  // libpq takes key=value text wherever it takes a URL, and the last word counts.
  std::string url() const { return test_server() + " dbname=" + name_; }

  Connection connect() const { return Connection::open(url(), std::chrono::seconds(20)); }

  // One statement or several, on a connection of its own; the first column of the first row.
  std::string sql(const std::string& text) const {
    Connection connection = connect();
    const ResultPtr result = connection.run(text.c_str());
    return PQntuples(result.get()) > 0 && PQnfields(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  }

 private:
  static void admin(const std::string& text) {
    Connection connection = Connection::open(test_server(), std::chrono::seconds(60));
    connection.run(text.c_str());
  }

  static inline std::atomic<int> count_{0};
  const std::string name_;
};

using stores::run;  // commands to a store, beside query.hpp: SQL to a connection

inline std::unique_ptr<Store> open_one(const TestDatabase& database, Options options = {}) {
  return std::move(open(database.url(), options).front());
}

}  // namespace stet::stores::postgres
