#pragma once
// Plain SQL on SQLite or PostgreSQL, as little as the examples need: one text with $1, $2, … for both. Values
// go in and come out as text, NULL comes out as "". Your own service has its own way to its database; Stet
// asks for the raw handle only.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

struct sqlite3;
struct pg_conn;

namespace sql {

// What a statement said no with. After any of these the transaction is over: roll back.
enum class Failure : std::uint8_t {
  constraint,  // a unique, foreign or CHECK constraint
  again,  // deadlock, or the lock was not to be had in time: nothing was done, the transaction may be run
          // again
  lost,   // no connection any more; a COMMIT that met this may have been done or not
  other,
};

class Error : public std::runtime_error {
 public:
  Error(Failure kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  Failure kind() const { return kind_; }

 private:
  Failure kind_;
};

struct Result {
  std::vector<std::vector<std::string>> rows;
  std::int64_t changed = 0;  // rows inserted, updated or deleted

  bool empty() const { return rows.empty(); }
  const std::string& value() const { return rows.at(0).at(0); }
  std::int64_t number() const { return std::stoll(value()); }
};

template <class T>
std::string text(const T& value) {
  if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else {
    return std::string(value);
  }
}

enum class Engine : std::uint8_t { sqlite, postgres };

// One connection. One thread at a time.
class Connection {
 public:
  virtual ~Connection() = default;

  // One statement. In SQL that both read: $1 … $n, RETURNING, ON CONFLICT.
  template <class... Values>
  Result run(std::string_view statement, const Values&... values) {
    return execute(std::string(statement), {text(values)...});
  }
  // Several statements without parameters, such as a schema.
  virtual void script(const std::string& statements) = 0;

  virtual Engine engine() const = 0;

 private:
  virtual Result execute(const std::string& statement, const std::vector<std::string>& values) = 0;
};

// "sqlite:FILE" or "postgresql://…" (any connection string of libpq's). Throws Error.
std::unique_ptr<Connection> open(const std::string& url);
std::unique_ptr<Connection> open_sqlite(const std::string& file);
std::unique_ptr<Connection> open_postgres(const std::string& url);

// Over a connection that somebody else owns and configures, such as a transaction of Stet's.
std::unique_ptr<Connection> borrow(sqlite3*);
std::unique_ptr<Connection> borrow(pg_conn*);

// BEGIN … COMMIT; rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Connection&);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  // When it throws, the transaction may have been committed all the same (Failure::lost): ask, do not assume.
  void commit();

 private:
  Connection& connection_;
  enum class State : std::uint8_t { open, over } state_ = State::open;
};

}  // namespace sql
