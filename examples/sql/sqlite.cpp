#include <sqlite3.h>

#include "sql.hpp"

namespace sql {
namespace {

class SqliteConnection final : public Connection {
 public:
  using Handle = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;
  explicit SqliteConnection(Handle db) : db_(std::move(db)) {}

  void script(const std::string& statements) override {
    if (sqlite3_exec(db_.get(), statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(statements);
  }
  Engine engine() const override { return Engine::sqlite; }

 private:
  using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

  Result execute(const std::string& text, const std::vector<std::string>& values) override {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db_.get(), text.c_str(), -1, &raw, nullptr) != SQLITE_OK) fail(text);
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
    if (sqlite3_stmt_readonly(raw) == 0) result.changed = sqlite3_changes64(db_.get());
    return result;
  }

  [[noreturn]] void fail(const std::string& statement) const {
    const int code = sqlite3_errcode(db_.get()) & 0xff;  // the primary code
    const Failure kind = code == SQLITE_CONSTRAINT                      ? Failure::constraint
                         : code == SQLITE_BUSY || code == SQLITE_LOCKED ? Failure::again
                         : code == SQLITE_IOERR                         ? Failure::lost
                                                                        : Failure::other;
    throw Error(kind, std::string(sqlite3_errmsg(db_.get())) + " in: " + statement);
  }

  Handle db_;
};

}  // namespace

std::unique_ptr<Connection> open_sqlite(const std::string& file) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  SqliteConnection::Handle db(raw, &sqlite3_close);
  if (code != SQLITE_OK) throw Error(Failure::lost, file + ": " + sqlite3_errmsg(raw));
  sqlite3_extended_result_codes(raw, 1);
  // Trap: without a time-out the second writer gets SQLITE_BUSY at once.
  sqlite3_busy_timeout(raw, 10'000);
  auto connection = std::make_unique<SqliteConnection>(std::move(db));
  // Trap: NORMAL, the default of some builds, may forget commits at a power loss in WAL mode.
  connection->script("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  return connection;
}

std::unique_ptr<Connection> borrow(sqlite3* handle) {
  return std::make_unique<SqliteConnection>(
      SqliteConnection::Handle(handle, [](sqlite3*) { return SQLITE_OK; }));
}

}  // namespace sql
