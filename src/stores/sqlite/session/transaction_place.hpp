#pragma once
// Where a transaction runs.

#include <memory>
#include <utility>

#include "stet/sqlite/transaction.hpp"
#include "stores/sqlite/database.hpp"

namespace stet::sqlite {

struct Transaction::Place {
  Place(sqlite3* on, stet::Session* with, std::shared_ptr<void> keeping)
      : handle(on), session(with), lent(std::move(keeping)) {}

  sqlite3* handle;
  stet::Session* session;
  std::shared_ptr<void> lent;  // goes back to its pool with this; of a connection of yours: nothing
};

}  // namespace stet::sqlite
