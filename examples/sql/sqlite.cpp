#include <sqlite3.h>

#include "sql.hpp"

namespace sql {
namespace {

class SqliteConnection final : public Connection {
 public:
  explicit SqliteConnection(const std::string& file) {
    const int code = sqlite3_open_v2(file.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    if (code != SQLITE_OK) {
      const std::string why = sqlite3_errmsg(db_);
      sqlite3_close(db_);
      throw Error(Failure::lost, file + ": " + why);
    }
    sqlite3_extended_result_codes(db_, 1);
    // Trap: without a time-out the second writer gets SQLITE_BUSY at once.
    sqlite3_busy_timeout(db_, 10'000);
    // Trap: the default of some builds, NORMAL, may forget commits at a power loss in WAL mode.
    script("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  }
  ~SqliteConnection() override { sqlite3_close(db_); }
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  void script(const std::string& statements) override {
    if (sqlite3_exec(db_, statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(statements);
  }
  Engine engine() const override { return Engine::sqlite; }
  bool alive() const override { return true; }
  sqlite3* sqlite_handle() const override { return db_; }

 private:
  using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

  Result execute(const std::string& text, const std::vector<std::string>& values) override {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db_, text.c_str(), -1, &raw, nullptr) != SQLITE_OK) fail(text);
    const Statement statement(raw, &sqlite3_finalize);
    for (std::size_t i = 0; i < values.size(); ++i) {
      // $n is a name to SQLite, and may stand in any order.
      const int at = sqlite3_bind_parameter_index(raw, ("$" + std::to_string(i + 1)).c_str());
      sqlite3_bind_text(raw, at, values[i].data(), static_cast<int>(values[i].size()), SQLITE_STATIC);
    }
    Result result;
    int code = 0;
    while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
      auto& row = result.rows.emplace_back();
      for (int i = 0; i < sqlite3_column_count(raw); ++i) {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(raw, i));
        row.emplace_back(bytes == nullptr
                             ? ""
                             : std::string(bytes, static_cast<std::size_t>(sqlite3_column_bytes(raw, i))));
      }
    }
    if (code != SQLITE_DONE) fail(text);
    if (sqlite3_stmt_readonly(raw) == 0) result.changed = sqlite3_changes64(db_);
    return result;
  }

  [[noreturn]] void fail(const std::string& statement) const {
    const int code = sqlite3_errcode(db_) & 0xff;  // the primary code
    const Failure kind = code == SQLITE_CONSTRAINT                      ? Failure::constraint
                         : code == SQLITE_BUSY || code == SQLITE_LOCKED ? Failure::again
                         : code == SQLITE_IOERR                         ? Failure::lost
                                                                        : Failure::other;
    throw Error(kind, std::string(sqlite3_errmsg(db_)) + " in: " + statement);
  }

  sqlite3* db_ = nullptr;
};

}  // namespace

std::unique_ptr<Connection> open_sqlite(const std::string& file) {
  return std::make_unique<SqliteConnection>(file);
}

}  // namespace sql
