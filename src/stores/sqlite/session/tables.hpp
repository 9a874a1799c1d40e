#pragma once
// The tables of a session, as rows: stet_operations, stet_outbox, stet_inbox. No judgement here.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "stet/session.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/transition.hpp"

namespace stet::stores::sqlite {

// A row that this library did not write like this. Stays inside this folder.
class UnreadableRow : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An operation and the number of its row: the order of the first claims.
struct Numbered {
  std::int64_t row = 0;
  Held held;
};

// Leases are points of the monotonic clock, which all processes of one machine share, with the boot that it counts
// from: after another boot every owner is dead, and a wall clock that is set moves no lease.
class Operations {
 public:
  Operations(Database&, std::string boot);

  // false: there is one already, and nothing was changed.
  bool insert(const OperationId&, const Held&);
  std::optional<Numbered> load(const OperationId&);
  void update(const Numbered&);
  void update_lease(const Numbered&);
  void remove(std::int64_t row);

  enum class Which : std::uint8_t { all, pending };
  // The next after `row`, at most `limit` of them looked at.
  std::vector<Numbered> after(std::int64_t row, std::size_t limit, Which);
  std::vector<Numbered> due(WallTime now, std::size_t limit);

 private:
  Numbered read(Statement&) const;
  std::vector<Numbered> read_all(Statement&);
  void bind_lease(Statement&, int parameter, const Held&);

  Database& db_;
  const std::string boot_;
  Statement insert_;
  Statement select_;
  Statement update_;
  Statement update_lease_;
  Statement delete_;
  Statement all_;
  Statement pending_;
  Statement due_;
};

class Outbox {
 public:
  explicit Outbox(Database&);
  void insert(const Nonce& id, const Message&, WallTime now);

 private:
  Statement insert_;
  Statement append_header_;
};

class Inbox {
 public:
  explicit Inbox(Database&);
  Receipt insert(std::string_view source, std::string_view event_id, WallTime now);

 private:
  Database& db_;
  Statement insert_;
};

// Names this boot of the machine.
const std::string& present_boot();

}  // namespace stet::stores::sqlite
