#pragma once
// Where a transaction runs.

#include <memory>
#include <utility>

#include "stet/postgres/transaction.hpp"
#include "stores/postgres/connection.hpp"

namespace stet::postgres {

struct Transaction::Place {
  Place(PGconn* on, const SessionOptions& options, std::shared_ptr<stores::postgres::Connection> from)
      : handle(on), session(on, options), lent(std::move(from)) {}

  // On a pool's connection through what watches its warnings and its time; on the caller's directly.
  void run(const char* sql);

  PGconn* handle;
  Session session;
  std::shared_ptr<stores::postgres::Connection> lent;  // of a connection of yours: nothing
};

}  // namespace stet::postgres
