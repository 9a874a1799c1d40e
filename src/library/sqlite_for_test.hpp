#pragma once
// For tests: a user's database with one table of their own, and a session beside the connection.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>

#include "stet/run_once.hpp"
#include "stet/sqlite/session.hpp"
#include "stores/sqlite/file_for_test.hpp"

namespace stet::library {

class UsersDatabase {
 public:
  explicit UsersDatabase(const std::string& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &handle_), SQLITE_OK);
    sqlite3_busy_timeout(handle_, 5000);
    run("PRAGMA journal_mode = WAL");
    run("PRAGMA synchronous = OFF");
    run("CREATE TABLE IF NOT EXISTS charges (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL) STRICT");
    sqlite::apply_schema(handle_);
    session_ = std::make_unique<sqlite::Session>(handle_);
  }
  ~UsersDatabase() {
    session_.reset();
    EXPECT_EQ(sqlite3_close(handle_), SQLITE_OK) << "the session has left a statement prepared";
  }
  UsersDatabase(const UsersDatabase&) = delete;
  UsersDatabase& operator=(const UsersDatabase&) = delete;

  sqlite::Session& session() { return *session_; }
  sqlite3* handle() { return handle_; }

  void run(const std::string& sql) {
    ASSERT_EQ(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle_) << " (" << sql << ")";
  }
  void charge(int amount) { run("INSERT INTO charges (amount) VALUES (" + std::to_string(amount) + ")"); }
  int number(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
    const int value = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    return value;
  }
  int charges() { return number("SELECT count(*) FROM charges"); }
  int operations() { return number("SELECT count(*) FROM stet_operations"); }

 private:
  sqlite3* handle_ = nullptr;
  std::unique_ptr<sqlite::Session> session_;
};

inline Intent intent(const std::string& key, std::string_view what = "4900",
                     const std::string& scope = "alice") {
  return {scope, key, fingerprint_of(what), "POST", "/charges"};
}

}  // namespace stet::library
