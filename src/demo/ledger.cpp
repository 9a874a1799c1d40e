#include "demo/ledger.hpp"

#include <sqlite3.h>

#include <random>

namespace stet::demo {
namespace {

constexpr const char* kSchema = R"(
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA busy_timeout = 5000;
  CREATE TABLE IF NOT EXISTS charges(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    amount INTEGER NOT NULL, currency TEXT NOT NULL, description TEXT NOT NULL,
    idempotency_key TEXT, operation TEXT, attempt TEXT,
    response_id TEXT NOT NULL UNIQUE, created_at TEXT NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS charges_by_key ON charges(idempotency_key);
  CREATE TABLE IF NOT EXISTS faulted(idempotency_key TEXT PRIMARY KEY) STRICT;
)";

constexpr const char* kColumns =
    "number, amount, currency, description, idempotency_key, operation, attempt, response_id, created_at";

[[noreturn]] void fail(sqlite3* db, const std::string& doing) {
  throw StoreError(StoreFailure::unavailable,
                   "ledger: cannot " + doing + ": " + (db != nullptr ? sqlite3_errmsg(db) : "no memory"));
}

class Statement {
 public:
  Statement(sqlite3* db, const std::string& sql) : db_(db) {
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) fail(db, "prepare");
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(const std::string& text) {
    check(sqlite3_bind_text64(statement_, ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
    return *this;
  }
  Statement& bind(const std::optional<std::string>& text) {
    if (text) return bind(*text);
    check(sqlite3_bind_null(statement_, ++bound_));
    return *this;
  }
  Statement& bind(std::int64_t number) {
    check(sqlite3_bind_int64(statement_, ++bound_, number));
    return *this;
  }
  bool row() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail(db_, "step");
    return code == SQLITE_ROW;
  }
  std::int64_t number(int column) { return sqlite3_column_int64(statement_, column); }
  std::optional<std::string> text(int column) {
    const auto* data = sqlite3_column_text(statement_, column);
    if (data == nullptr) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(data),
                       static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }
  Charge charge() {
    Charge charge;
    charge.number = number(0);
    charge.order = {number(1), text(2).value_or(""), text(3).value_or("")};
    charge.provenance = {text(4), text(5), text(6)};
    charge.response_id = text(7).value_or("");
    charge.created_at = text(8).value_or("");
    return charge;
  }

 private:
  void check(int code) {
    if (code != SQLITE_OK) fail(db_, "bind");
  }
  sqlite3* db_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

std::string fresh_response_id() {
  thread_local std::random_device source;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id = "resp_";
  for (int word = 0; word < 4; ++word) {
    auto bits = source();
    for (int i = 0; i < 8; ++i, bits >>= 4) id += kDigits[bits & 15];
  }
  return id;
}

std::string filter(const std::optional<std::string>& key) {
  return key ? " WHERE idempotency_key = ?" : "";
}

}  // namespace

Ledger::Ledger(const std::string& path) {
  if (sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr) != SQLITE_OK ||
      sqlite3_exec(db_, kSchema, nullptr, nullptr, nullptr) != SQLITE_OK) {
    const std::string why = db_ != nullptr ? sqlite3_errmsg(db_) : "no memory";
    sqlite3_close(db_);
    throw StoreError(StoreFailure::unavailable, "ledger " + path + ": " + why);
  }
}

Ledger::~Ledger() {
  sqlite3_close(db_);
}

Charge Ledger::add(const ChargeOrder& order, const Provenance& provenance) {
  const std::lock_guard lock(mutex_);
  Statement insert(
      db_, std::string("INSERT INTO charges(amount, currency, description, idempotency_key, operation, "
                       "attempt, response_id, created_at) VALUES(?, ?, ?, ?, ?, ?, ?, "
                       "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) RETURNING ") +
               kColumns);
  insert.bind(order.amount).bind(order.currency).bind(order.description);
  insert.bind(provenance.idempotency_key).bind(provenance.operation).bind(provenance.attempt);
  insert.bind(fresh_response_id());
  if (!insert.row()) fail(db_, "add a charge");
  auto charge = insert.charge();
  // The transaction commits when the statement has run to its end: only then is the charge durable.
  while (insert.row()) {
  }
  return charge;
}

std::optional<Charge> Ledger::find(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  Statement select(db_, std::string("SELECT ") + kColumns + " FROM charges WHERE number = ?");
  select.bind(number);
  if (!select.row()) return std::nullopt;
  return select.charge();
}

std::vector<Charge> Ledger::list(const std::optional<std::string>& key, std::int64_t limit) {
  const std::lock_guard lock(mutex_);
  Statement select(
      db_, std::string("SELECT ") + kColumns + " FROM charges" + filter(key) + " ORDER BY number LIMIT ?");
  if (key) select.bind(*key);
  select.bind(limit);
  std::vector<Charge> charges;
  while (select.row()) charges.push_back(select.charge());
  return charges;
}

std::uint64_t Ledger::count(const std::optional<std::string>& key) {
  const std::lock_guard lock(mutex_);
  Statement select(db_, "SELECT count(*) FROM charges" + filter(key));
  if (key) select.bind(*key);
  if (!select.row()) fail(db_, "count");
  return static_cast<std::uint64_t>(select.number(0));
}

bool Ledger::first_fault_for(const std::string& key) {
  const std::lock_guard lock(mutex_);
  Statement insert(db_, "INSERT INTO faulted(idempotency_key) VALUES(?) ON CONFLICT DO NOTHING RETURNING 1");
  insert.bind(key);
  const bool first = insert.row();
  while (first && insert.row()) {
  }
  return first;
}

}  // namespace stet::demo
