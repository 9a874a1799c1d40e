#include "stet/sqlite/pool.hpp"

#include <algorithm>

#include "stores/sqlite/session/pool_inside.hpp"
#include "stores/sqlite/session/sql_trouble.hpp"
#include "stores/sqlite/session/transaction_place.hpp"

namespace stet::sqlite {

using stores::sqlite::SqlError;

namespace {

// A statement of the borrower's that is half read would hold the connection to an old state of the file, and
// whoever is lent it next could not write.
void end_reading(sqlite3* handle) {
  for (sqlite3_stmt* each = nullptr; (each = sqlite3_next_stmt(handle, each)) != nullptr;) {
    if (sqlite3_stmt_busy(each) != 0) sqlite3_reset(each);
  }
}

// A connection whose transaction could not be ended is of no use to the next.
bool fits(const Pool::Inside::Line& line) {
  end_reading(line.database.handle());
  return !line.database.in_transaction();
}

}  // namespace

Pool::Inside::Line::Line(const Inside& pool) : database(pool.path, "") {
  sqlite3_busy_timeout(database.handle(),
                       static_cast<int>(std::min(pool.options.busy_timeout, stores::kLongestWait).count()));
  const bool full = pool.options.durability == PoolOptions::Durability::full;
  // NORMAL does not sync each commit to a write-ahead log; to a rollback journal it would.
  database.run(full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  session = std::make_unique<Session>(std::make_unique<Session::Inside>(
      database.handle(), pool.clocks, stores::sqlite::present_boot(), pool.guard));
}

Pool::Inside::Lent Pool::Inside::take() {
  process.must_be_this();
  try {
    return lines->take([this] { return std::make_unique<Line>(*this); }, fits);
  } catch (const SqlError& error) {
    throw StoreError(StoreFailure::not_written, error.what());
  }
}

Pool::Pool(const std::string& path, const PoolOptions& options)
    : Pool(std::make_shared<Inside>(path, options, stores::Clocks::system())) {}

Pool::Pool(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {
  if (inside_->options.connections == 0) {
    throw StoreError(StoreFailure::incompatible, "a pool needs at least one connection");
  }
  const auto line = inside_->take();
  if (inside_->options.schema == PoolOptions::Schema::apply) apply_schema(line->database.handle());
}

Pool::~Pool() {
  // In a child of fork() nothing is closed: the locks on the file are its parent's.
  if (!inside_->process.is_this()) static_cast<void>(new std::shared_ptr<Inside>(std::move(inside_)));
}

Transaction Pool::transaction() {
  auto line = inside_->take();
  sqlite3* const handle = line->database.handle();
  stet::Session* const session = line->session.get();
  return Transaction(std::make_unique<Transaction::Place>(handle, session, std::move(line)));
}

std::vector<Store::Outcome> Pool::execute(std::span<const Command> batch) {
  Transaction transaction = this->transaction();
  auto outcomes = transaction.session().execute(batch);
  transaction.commit();
  return outcomes;
}

std::optional<Record> Pool::find(const OperationId& id) {
  return inside_->take()->session->find(id);
}

Page Pool::list(const Filter& filter, std::size_t limit, const std::string& cursor) {
  return inside_->take()->session->list(filter, limit, cursor);
}

}  // namespace stet::sqlite
