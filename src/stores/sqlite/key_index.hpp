#pragma once
// Which rows may hold a key: 64 bits of the operation's id → row, 16 bytes a slot, in memory. A hit is only a
// candidate; the row itself says whose it is. So equal tags cost a look and never a wrong answer.

#include <cstdint>
#include <vector>

namespace stet::stores::sqlite {

using Tag = std::uint64_t;
using Row = std::int64_t;  // > 0

class KeyIndex {
 public:
  KeyIndex();

  void add(Tag tag, Row row);
  bool remove(Tag tag, Row row);

  // Calls `look(row)` for each candidate until it returns true.
  template <class Look>
  bool any(Tag tag, Look look) const {
    const Shard& shard = shards_[shard_of(tag)];
    if (shard.slots.empty()) return false;
    const std::size_t mask = shard.slots.size() - 1;
    for (std::size_t i = home(tag, shard.slots.size()); shard.slots[i].row != 0; i = (i + 1) & mask) {
      if (shard.slots[i].tag == tag && look(shard.slots[i].row)) return true;
    }
    return false;
  }

  std::size_t size() const { return size_; }
  std::size_t memory() const;  // bytes

 private:
  struct Slot {
    Tag tag = 0;
    Row row = 0;  // 0: empty
  };
  // Many small tables instead of one, so that growing moves a thousandth of the keys at a time and never
  // stalls a batch.
  struct Shard {
    std::vector<Slot> slots;  // a power of two
    std::size_t used = 0;
  };
  static constexpr std::size_t kShards = 1024;

  static std::size_t shard_of(Tag tag) { return tag & (kShards - 1); }
  std::size_t home(Tag tag, std::size_t slots) const;
  void grow(Shard& shard);
  void place(Shard& shard, Slot slot) const;

  std::vector<Shard> shards_;
  std::size_t size_ = 0;
  std::uint64_t odd_;  // random, so that nobody can choose keys that meet in one place
};

}  // namespace stet::stores::sqlite
