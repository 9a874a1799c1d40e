#pragma once
// What a session is made of. Tests make one with clocks of their own.

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "stet/sqlite/session.hpp"
#include "stores/clocks.hpp"
#include "stores/sqlite/session/tables.hpp"
#include "stores/wall_guard.hpp"

namespace stet::sqlite {

// The guard looks back at the sweep before, whichever of a pool's sessions that one went through.
struct SweepGuard {
  std::mutex mutex;
  stores::WallGuard wall;
};

class Session::Inside {
 public:
  Inside(sqlite3* borrowed, stores::Clocks clocks, std::string boot, std::shared_ptr<SweepGuard> guard)
      : database_(borrowed), clocks_(std::move(clocks)), boot_(std::move(boot)), guard_(std::move(guard)) {}

  struct Tables {
    Tables(stores::sqlite::Database& database, const std::string& boot)
        : operations(database, boot), due(database), outbox(database), inbox(database) {}
    stores::sqlite::Operations operations;
    stores::sqlite::Due due;
    stores::sqlite::Outbox outbox;
    stores::sqlite::Inbox inbox;
  };
  Tables& tables();
  stores::Now now() const { return stores::read(clocks_); }

  Result one(const Command& command);
  void refuse_outside_a_transaction() const;

 private:
  Result sweep(const command::Sweep& command, const stores::Now& now);
  std::optional<std::int64_t> look_at(std::int64_t row, const stores::Now& now, result::Swept& swept);

  stores::sqlite::Database database_;
  const stores::Clocks clocks_;
  const std::string boot_;
  const std::shared_ptr<SweepGuard> guard_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace stet::sqlite
