#include "stores/sqlite/key_index.hpp"

#include <bit>
#include <cstring>

#include "stet/identity.hpp"

namespace stet::stores::sqlite {
namespace {

constexpr std::size_t kFirstSlots = 8;

std::uint64_t random_odd() {
  const Nonce nonce = Nonce::random();
  std::uint64_t value = 0;
  std::memcpy(&value, nonce.bytes.data(), sizeof value);
  return value | 1;
}

}  // namespace

KeyIndex::KeyIndex() : shards_(kShards), odd_(random_odd()) {}

// Multiply-shift hashing with a secret multiplier; the shard has used the lowest bits.
std::size_t KeyIndex::home(Tag tag, std::size_t slots) const {
  return static_cast<std::size_t>((tag * odd_) >> (64 - std::countr_zero(slots)));
}

void KeyIndex::add(Tag tag, Row row) {
  Shard& shard = shards_[shard_of(tag)];
  if ((shard.used + 1) * 8 > shard.slots.size() * 7) grow(shard);
  place(shard, {tag, row});
  ++shard.used;
  ++size_;
}

void KeyIndex::place(Shard& shard, Slot slot) const {
  const std::size_t mask = shard.slots.size() - 1;
  std::size_t i = home(slot.tag, shard.slots.size());
  while (shard.slots[i].row != 0) i = (i + 1) & mask;
  shard.slots[i] = slot;
}

void KeyIndex::grow(Shard& shard) {
  const std::vector<Slot> old = std::move(shard.slots);
  shard.slots = std::vector<Slot>(old.empty() ? kFirstSlots : old.size() * 2);
  for (const Slot& slot : old) {
    if (slot.row != 0) place(shard, slot);
  }
}

// Moves later slots back over the hole, so that searches may go on stopping at the first empty slot.
bool KeyIndex::remove(Tag tag, Row row) {
  Shard& shard = shards_[shard_of(tag)];
  if (shard.slots.empty()) return false;
  const std::size_t mask = shard.slots.size() - 1;
  std::size_t hole = home(tag, shard.slots.size());
  while (shard.slots[hole].row != 0 && !(shard.slots[hole].tag == tag && shard.slots[hole].row == row)) {
    hole = (hole + 1) & mask;
  }
  if (shard.slots[hole].row == 0) return false;
  for (std::size_t i = (hole + 1) & mask; shard.slots[i].row != 0; i = (i + 1) & mask) {
    const std::size_t wanted = home(shard.slots[i].tag, shard.slots.size());
    const bool may_move = ((i - wanted) & mask) >= ((i - hole) & mask);
    if (!may_move) continue;
    shard.slots[hole] = shard.slots[i];
    hole = i;
  }
  shard.slots[hole] = {};
  --shard.used;
  --size_;
  return true;
}

std::size_t KeyIndex::memory() const {
  std::size_t bytes = shards_.size() * sizeof(Shard);
  for (const Shard& shard : shards_) bytes += shard.slots.size() * sizeof(Slot);
  return bytes;
}

}  // namespace stet::stores::sqlite
