#include "stores/sqlite/session/transaction_place.hpp"

#include <utility>

#include "stores/sqlite/session/sql_trouble.hpp"

namespace stet::sqlite {

using stores::sqlite::SqlError;

Transaction::Transaction(sqlite3* handle, Session& session)
    : Transaction(std::make_unique<Place>(handle, &session, nullptr)) {}

Transaction::Transaction(std::unique_ptr<Place> place) : place_(std::move(place)) {
  try {
    stores::sqlite::Database(place_->handle).run("BEGIN IMMEDIATE");
  } catch (const SqlError& error) {
    throw stores::sqlite::trouble(error);
  }
}

Transaction::Transaction(Transaction&&) noexcept = default;

Transaction::~Transaction() {
  // When SQLite has rolled back by itself (a full disk, an I/O error) there is nothing left to end.
  if (place_ && sqlite3_get_autocommit(place_->handle) == 0) {
    sqlite3_exec(place_->handle, "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

sqlite3* Transaction::handle() const {
  return place_->handle;
}
stet::Session& Transaction::session() const {
  return *place_->session;
}

void Transaction::commit() {
  if (sqlite3_get_autocommit(place_->handle) != 0) {
    throw StoreError(StoreFailure::not_written, "the transaction has been rolled back: there is nothing to commit");
  }
  try {
    stores::sqlite::Database(place_->handle).run("COMMIT");
  } catch (const SqlError& error) {
    // What the disk holds after a failed sync is anybody's guess; everything else was refused before that.
    if (error.code() == SQLITE_IOERR) throw StoreError(StoreFailure::unavailable, error.what());
    throw stores::sqlite::trouble(error);
  }
}

}  // namespace stet::sqlite
