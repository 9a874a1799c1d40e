#pragma once
// Connections of the library's own to an SQLite file that may be yours: for durable claims before external
// calls, and for services that would rather borrow a transaction than keep connections.
//
// The journal mode is left as the file has it; WAL is the faster one, by far. What you set on a lent
// connection (PRAGMA, ATTACH, temporary tables) stays on it, for whoever is lent it next. Not after fork(): a
// child makes a pool of its own, and this one refuses it every connection.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "stet/pool.hpp"
#include "stet/sqlite/transaction.hpp"

namespace stet::sqlite {

struct PoolOptions {
  // At the most; opened when needed. SQLite has one writer whatever this says, and who waits here waits in
  // line. More than one also meets a defect of SQLite before 3.51.3: two connections that write to a
  // write-ahead log at just the same moment can damage the file.
  std::size_t connections = 1;
  // How long to wait for a connection, and then for the file.
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(5);
  enum class Durability : std::uint8_t {
    full,  // what was committed survives power loss (synchronous = FULL)
    os,    // … survives a crash of the process only
  };
  Durability durability = Durability::full;
  enum class Schema : std::uint8_t { apply, leave };
  Schema schema = Schema::apply;
};

class Pool final : public stet::Pool {
 public:
  // Creates the file when there is none. Throws StoreError.
  explicit Pool(const std::string& path, const PoolOptions& = {});
  ~Pool() override;  // after every transaction has ended
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Begun, on a connection of the pool; waits for one when all are lent. Threads: any, each its own
  // transaction. A thread that holds one and asks the pool for another (execute, find and list take one, too)
  // waits for itself, in vain. Throws StoreError (not_written: the time was up).
  Transaction transaction();

  std::vector<Outcome> execute(std::span<const Command> batch) override;
  std::optional<Record> find(const OperationId&) override;
  Page list(const Filter&, std::size_t limit, const std::string& cursor) override;

  struct Inside;  // for the library's own tests: a pool with clocks of theirs
  explicit Pool(std::shared_ptr<Inside>);

 private:
  std::shared_ptr<Inside> inside_;
};

}  // namespace stet::sqlite
