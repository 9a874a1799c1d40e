#include "stet/postgres/pool.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "stores/own_process.hpp"
#include "stores/postgres/library/transaction_place.hpp"
#include "stores/postgres/postgres_store.hpp"
#include "stores/postgres/server.hpp"
#include "stores/shelf.hpp"

namespace stet::postgres {

namespace pg = stores::postgres;

namespace {

// A statement of the caller's may take its time; this bounds BEGIN, COMMIT and ROLLBACK, the wait for a
// standby included.
constexpr std::chrono::seconds kTransactionTime(30);

using Stores = std::vector<std::unique_ptr<Store>>;

// No more rights are asked for where the schema is there: transactions need only an application's.
void create_where_missing(const std::string& url) {
  pg::Connection connection = pg::Connection::open(url, kTransactionTime);
  const pg::Server server = pg::inspect(connection, stores::Durability::full);
  if (server.schema == pg::Schema::missing) pg::prepare_schema(connection, server.schema);
}

}  // namespace

struct Pool::Inside {
  Inside(std::string to, const PoolOptions& how)
      : url(std::move(to)),
        options(how),
        lines(std::make_shared<stores::Shelf<pg::Connection>>(how.connections, how.wait)) {}

  std::shared_ptr<pg::Connection> line() {
    process.must_be_this();
    return lines->take(
        [this] {
          auto connection = std::make_unique<pg::Connection>(pg::Connection::open(url, kTransactionTime));
          PQsetnonblocking(connection->get(),
                           0);  // what a borrower sends by COPY must not come back half sent
          return connection;
        },
        [](const pg::Connection& connection) {
          return PQtransactionStatus(connection.get()) == PQTRANS_IDLE && connection.is_alive();
        });
  }

  // One of the stores, which connect and connect again by themselves.
  class Lent {
   public:
    explicit Lent(Inside& inside) : inside_(inside) {
      inside_.process.must_be_this();
      std::unique_lock lock(inside_.mutex);
      inside_.open();
      stores::wait_for_one(inside_.given_back, lock, inside_.options.wait,
                           [this] { return !inside_.idle.empty(); });
      store_ = inside_.idle.back();
      inside_.idle.pop_back();
    }
    ~Lent() {
      const std::lock_guard lock(inside_.mutex);
      inside_.idle.push_back(store_);
      inside_.given_back.notify_one();
    }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    Store* operator->() const { return store_; }

   private:
    Inside& inside_;
    Store* store_ = nullptr;
  };

  // Holding the mutex, but for the start.
  void open() {
    if (!stores.empty()) return;
    stores = pg::open(url, store_options());
    for (const auto& store : stores) idle.push_back(store.get());
  }

  pg::Options store_options() const {
    pg::Options store;
    store.connections = options.connections;
    store.operation_time = options.store_time;
    using Missing = stores::OpenOptions::Missing;
    store.missing = options.schema == PoolOptions::Schema::create ? Missing::create : Missing::refuse;
    return store;
  }

  const std::string url;
  const PoolOptions options;
  const std::shared_ptr<stores::Shelf<pg::Connection>> lines;
  const stores::OwnProcess process;
  std::mutex mutex;
  std::condition_variable given_back;
  Stores stores;
  std::vector<Store*> idle;
};

Pool::Pool(const std::string& url, const PoolOptions& options)
    : inside_(std::make_shared<Inside>(url, options)) {
  if (options.connections == 0)
    throw StoreError(StoreFailure::incompatible, "a pool needs at least one connection");
  if (options.schema == PoolOptions::Schema::create) create_where_missing(url);
}

Pool::~Pool() {
  // In a child of fork() nothing is closed: what is said on these connections is said in its parent's name.
  if (!inside_->process.is_this()) static_cast<void>(new std::shared_ptr<Inside>(std::move(inside_)));
}

Transaction Pool::transaction() {
  auto line = inside_->line();
  PGconn* const handle = line->get();
  return Transaction(std::make_unique<Transaction::Place>(handle, inside_->options.session, std::move(line)));
}

std::vector<Store::Outcome> Pool::execute(std::span<const Command> batch) {
  return Inside::Lent(*inside_)->execute(batch);
}

std::optional<Result> Pool::peek(const command::Claim& claim) noexcept {
  const std::lock_guard lock(inside_->mutex);
  return inside_->stores.empty() ? std::nullopt : inside_->stores.front()->peek(claim);
}

std::optional<Record> Pool::find(const OperationId& id) {
  return Inside::Lent(*inside_)->find(id);
}

Page Pool::list(const Filter& filter, std::size_t limit, const std::string& cursor) {
  return Inside::Lent(*inside_)->list(filter, limit, cursor);
}

}  // namespace stet::postgres
