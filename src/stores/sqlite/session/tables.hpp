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
  std::optional<Numbered> row(std::int64_t row);

 private:
  Numbered read(Statement&) const;
  std::vector<Numbered> read_all(Statement&);

  Database& db_;
  const std::string boot_;
  Statement insert_;
  Statement select_;
  Statement update_;
  Statement update_lease_;
  Statement delete_;
  Statement step_back_;
  Statement all_;
  Statement pending_;
  Statement row_;
};

// The rows that the sweep has to look at, by time.
class Due {
 public:
  explicit Due(Database&);

  // Takes up the next rows that are not here yet, `limit` of them at the most. What is pending or unknown is looked at
  // again after its retention, or an hour.
  void take_up(WallTime now, std::size_t limit);

  struct Entry {
    std::int64_t at_ms = 0;
    std::int64_t row = 0;
  };
  std::vector<Entry> due(WallTime now, std::size_t limit);
  void remove(const Entry&);
  void insert(std::int64_t at_ms, std::int64_t row);
  // When to look at this record again; none: never.
  static std::optional<std::int64_t> next_look(const Record&, WallTime now);

 private:
  Statement fill_;
  Statement filled_;
  Statement due_;
  Statement delete_;
  Statement insert_;
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
