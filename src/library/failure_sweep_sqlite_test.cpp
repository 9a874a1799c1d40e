#include "library/failure_sweep_for_test.hpp"
#include "library/sqlite_for_test.hpp"
#include "stet/sqlite/pool.hpp"

namespace stet::library::failures {
namespace {

class SqliteBank final : public Bank {
 public:
  explicit SqliteBank(const std::string& path) : users_(path), pool_(path, {.durability = sqlite::PoolOptions::Durability::os}) {}
  void begin() override { exec("BEGIN IMMEDIATE"); }
  void commit() override { exec("COMMIT"); }
  void roll_back() override { exec("ROLLBACK"); }
  void run(const std::string& sql) override { exec(sql); }
  int number(const std::string& sql) override { return users_.number(sql); }
  Session& session() override { return users_.session(); }
  Pool& pool() override { return pool_; }

 private:
  void exec(const std::string& sql) {
    if (sqlite3_exec(users_.handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw StoreError(StoreFailure::not_written, sqlite3_errmsg(users_.handle()));
    }
  }
  UsersDatabase users_;
  sqlite::Pool pool_;
};

class SqliteTown final : public Town {
 public:
  SqliteTown() {
    UsersDatabase users(file_.path());
    users.run("PRAGMA journal_mode = WAL");
    users.run(kBankTables);
  }
  std::unique_ptr<Bank> open() override { return std::make_unique<SqliteBank>(file_.path()); }

 private:
  stores::sqlite::TestFile file_;
};

TEST(FailureSweepOnSqlite, run_once_has_one_effect_or_none_whatever_fails) {
  sweep_run_once([] { return std::make_unique<SqliteTown>(); });
}

TEST(FailureSweepOnSqlite, phases_have_one_effect_whatever_fails_and_the_provider_sees_one_charge) {
  sweep_phases([] { return std::make_unique<SqliteTown>(); });
}

}  // namespace
}  // namespace stet::library::failures
