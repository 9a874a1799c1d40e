#pragma once
// The service's database, SQLite or PostgreSQL: transactions in which the service's rows, the key and its
// messages are one.

#include <memory>
#include <string>

#include "../sql/sql.hpp"
#include "stet/pool.hpp"
#include "stet/session.hpp"

namespace booking {

// Begun; rolls back unless committed. One thread. Never held while another service is called.
class Transaction {
 public:
  struct Inside {
    virtual ~Inside() = default;
    virtual sql::Connection& sql() = 0;
    virtual stet::Session& session() = 0;
    virtual void commit() = 0;
  };
  explicit Transaction(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}

  template <class... Values>
  sql::Result run(std::string_view statement, const Values&... values) {
    return inside_->sql().run(statement, values...);
  }
  stet::Session& session() { return inside_->session(); }
  // Before the first statement: all of them see the same moment (SQLite's always do).
  void repeatable_reads() {
    if (inside_->sql().engine() == sql::Engine::postgres)
      run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  }
  // Throws stet::StoreError. Trap: that may be a commit whose reply was lost. Nobody here guesses: the same
  // key sent again finds out.
  void commit() { inside_->commit(); }

 private:
  std::unique_ptr<Inside> inside_;
};

// Threads: any.
class Database {
 public:
  virtual ~Database() = default;
  virtual Transaction begin() = 0;
  virtual stet::Pool& pool() = 0;  // for claims that must be durable before another service is called
};

// "sqlite:FILE" or "postgresql://…"; creates the tables. Throws stet::StoreError or sql::Error.
std::unique_ptr<Database> open_database(const std::string& url);

}  // namespace booking
