#pragma once
// BEGIN IMMEDIATE … COMMIT as an object: what was not committed is rolled back when it ends.
//
// Owner: you; it borrows the connection, or has taken one from a Pool and gives it back. Threads: one.

#include <memory>

#include "stet/sqlite/session.hpp"

namespace stet::sqlite {

class Pool;

class Transaction {
 public:
  // On a connection of yours and its session. Throws StoreError (not_written: nothing has begun).
  Transaction(sqlite3*, Session&);
  ~Transaction();
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) = delete;

  sqlite3* handle() const;  // for your statements
  stet::Session& session() const;

  // Throws StoreError. `not_written` and `full`: rolled back. `unavailable`: it may or may not have been committed;
  // the same key sent again tells.
  void commit();

 private:
  friend class Pool;
  struct Place;
  explicit Transaction(std::unique_ptr<Place>);
  std::unique_ptr<Place> place_;
};

}  // namespace stet::sqlite
