#include "database.hpp"

#include "schema.hpp"
#include "stet/postgres/pool.hpp"
#include "stet/sqlite/pool.hpp"

namespace booking {
namespace {

// A transaction of the library's pools, and plain SQL on its connection.
template <class Lent>
class Joined final : public Transaction::Inside {
 public:
  explicit Joined(Lent lent) : lent_(std::move(lent)), sql_(sql::borrow(lent_.handle())) {}
  sql::Connection& sql() override { return *sql_; }
  stet::Session& session() override { return lent_.session(); }
  void commit() override { lent_.commit(); }

 private:
  Lent lent_;
  std::unique_ptr<sql::Connection> sql_;
};

template <class Pool>
class Pooled final : public Database {
 public:
  template <class... Arguments>
  explicit Pooled(Arguments&&... arguments) : pool_(std::forward<Arguments>(arguments)...) {}

  Transaction begin() override {
    using Lent = decltype(pool_.transaction());
    return Transaction(std::make_unique<Joined<Lent>>(pool_.transaction()));
  }
  stet::Pool& pool() override { return pool_; }

 private:
  Pool pool_;
};

}  // namespace

std::unique_ptr<Database> open_database(const std::string& url) {
  create_tables(*sql::open(url));
  static constexpr std::string_view sqlite = "sqlite:";
  if (!url.starts_with(sqlite)) return std::make_unique<Pooled<stet::postgres::Pool>>(url);
  return std::make_unique<Pooled<stet::sqlite::Pool>>(url.substr(sqlite.size()));
}

}  // namespace booking
