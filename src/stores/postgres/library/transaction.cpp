#include <cstring>

#include "stores/postgres/library/transaction_place.hpp"
#include "stores/postgres/query.hpp"

namespace stet::postgres {

namespace pg = stores::postgres;

void Transaction::Place::run(const char* sql) {
  const pg::ResultPtr result = lent ? lent->run(sql) : pg::run(handle, sql, std::nullopt);
  // COMMIT after a statement that failed is answered with ROLLBACK, and no error.
  if (std::strcmp(PQcmdStatus(result.get()), sql) != 0) {
    throw StoreError(StoreFailure::not_written, std::string("PostgreSQL answered ") + PQcmdStatus(result.get()) + " to " +
                                                    sql + ": an earlier statement of the transaction has failed");
  }
}

Transaction::Transaction(PGconn* handle, const SessionOptions& options)
    : Transaction(std::make_unique<Place>(handle, options, nullptr)) {}

Transaction::Transaction(std::unique_ptr<Place> place) : place_(std::move(place)) {
  if (PQtransactionStatus(place_->handle) != PQTRANS_IDLE) {
    throw StoreError(StoreFailure::not_written, "the connection is closed, or in a transaction already");
  }
  place_->run("BEGIN");
}

Transaction::Transaction(Transaction&&) noexcept = default;

Transaction::~Transaction() {
  if (!place_) return;
  const PGTransactionStatusType status = PQtransactionStatus(place_->handle);
  if (status != PQTRANS_INTRANS && status != PQTRANS_INERROR) return;
  try {
    place_->run("ROLLBACK");
  } catch (const StoreError&) {
    // The connection is gone, and with it the transaction.
  }
}

PGconn* Transaction::handle() const {
  return place_->handle;
}
stet::Session& Transaction::session() const {
  return place_->session;
}

void Transaction::commit() {
  const PGTransactionStatusType status = PQtransactionStatus(place_->handle);
  if (status != PQTRANS_INTRANS && status != PQTRANS_INERROR) {
    throw StoreError(StoreFailure::not_written, "there is no transaction to commit");
  }
  place_->run("COMMIT");
}

}  // namespace stet::postgres
