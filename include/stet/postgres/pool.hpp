#pragma once
// Connections of the library's own to a PostgreSQL database that may be yours: for durable claims before
// external calls, and for services that would rather borrow a transaction than keep connections.
//
// As a store it uses the functions of the gateway (EXECUTE on all functions of the schema stet); its
// transactions get by with what `stet schema apply --app-role` grants.
//
// What you set on a lent connection for longer than your transaction (SET without LOCAL, LISTEN, session
// locks, prepared statements) stays on it, for whoever is lent it next. Not after fork(): a child makes a
// pool of its own, and this one refuses it every connection.

#include <chrono>
#include <memory>
#include <string>

#include "stet/pool.hpp"
#include "stet/postgres/transaction.hpp"

namespace stet::postgres {

struct PoolOptions {
  // At the most, for transactions; as many again for the store; opened when needed.
  std::size_t connections = 4;
  std::chrono::milliseconds store_time = std::chrono::seconds(2);  // for one command to the store
  std::chrono::milliseconds wait = std::chrono::seconds(30);       // for a connection when all are lent

  enum class Schema : std::uint8_t { create, leave };  // where there is none
  Schema schema = Schema::create;
  SessionOptions session{};  // of transactions
};

class Pool final : public stet::Pool {
 public:
  // A URL (postgresql://…) or libpq's key=value text; several hosts are allowed. With
  // Schema::create it connects at once, else with the first use. Throws StoreError.
  explicit Pool(const std::string& url, const PoolOptions& = {});
  ~Pool() override;  // after every transaction has ended
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Begun, on a connection of the pool; waits for one when all are lent. Threads: any, each its own
  // transaction. Throws StoreError (not_written: the time was up).
  Transaction transaction();

  std::vector<Outcome> execute(std::span<const Command> batch) override;
  std::optional<Result> peek(const command::Claim&) noexcept override;
  std::optional<Record> find(const OperationId&) override;
  Page list(const Filter&, std::size_t limit, const std::string& cursor) override;

 private:
  struct Inside;
  std::shared_ptr<Inside> inside_;
};

}  // namespace stet::postgres
