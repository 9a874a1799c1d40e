#pragma once
// BEGIN … COMMIT as an object: what was not committed is rolled back when it ends.
//
// Owner: you; it borrows the connection, or has taken one from a Pool and gives it back. Threads: one.

#include <memory>

#include "stet/postgres/session.hpp"

namespace stet::postgres {

class Pool;

class Transaction {
 public:
  // On a connection of yours, in the isolation level that it has (READ COMMITTED, please: session.hpp says
  // why). Throws StoreError (not_written: nothing has begun).
  explicit Transaction(PGconn*, const SessionOptions& = {});
  // While a statement or a COPY of yours is still under way there, a connection of yours stays as it is: end
  // that first. One of a pool is closed then.
  ~Transaction();
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) = delete;

  PGconn* handle() const;  // for your statements
  stet::Session& session() const;

  // Throws StoreError. `not_written`: rolled back, as PostgreSQL does it after a statement that failed.
  // `unavailable`: it may or may not have been committed; the same key sent again tells. On a connection of a
  // pool that includes a commit whose wait for a synchronous standby was cancelled; on one of yours that
  // comes as a warning, to your notice receiver.
  void commit();

 private:
  friend class Pool;
  struct Place;
  explicit Transaction(std::unique_ptr<Place>);
  std::unique_ptr<Place> place_;
};

}  // namespace stet::postgres
