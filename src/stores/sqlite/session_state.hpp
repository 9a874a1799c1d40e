#pragma once
// What the process knows beside the file: which rows may hold a key, and whose lease still runs. It follows
// the file's transactions: what a batch did to it is undone when the batch is rolled back.

#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "stores/clocks.hpp"
#include "stores/sqlite/key_index.hpp"

namespace stet::stores::sqlite {

class SessionState {
 public:
  const KeyIndex& keys() const { return keys_; }
  KeyIndex& filling() { return keys_; }  // at start only: not undone

  // None: over. Pending rows of an earlier process have none, their owners are dead.
  std::optional<MonoTime> lease(Row row) const;

  void add_key(Tag tag, Row row);
  void remove_key(Tag tag, Row row);
  void set_lease(Row row, std::optional<MonoTime> ends);

  void keep() { undo_.clear(); }  // after a commit
  void undo();                    // after a rollback

 private:
  struct Added {
    Tag tag;
    Row row;
  };
  struct Removed {
    Tag tag;
    Row row;
  };
  struct Leased {
    Row row;
    std::optional<MonoTime> before;
  };
  void put_lease(Row row, std::optional<MonoTime> ends);

  KeyIndex keys_;
  std::unordered_map<Row, MonoTime> leases_;
  std::vector<std::variant<Added, Removed, Leased>> undo_;
};

}  // namespace stet::stores::sqlite
