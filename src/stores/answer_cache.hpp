#pragma once
// Recent durable answers, for replays from any thread while the store thread is busy with an fsync or a round
// trip.

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "stet/store.hpp"
#include "stores/clocks.hpp"

namespace stet::stores {

class AnswerCache {
 public:
  explicit AnswerCache(std::size_t bytes);

  // From a store thread, only after the commit that made it durable (or a read of what was durable before).
  // A completed answer never changes, so what is there stays, unless it was kept with a time and that is
  // over. `good_until`: for stores that others sweep, too; no later than the end of the retention. None:
  // until `drop`.
  void keep(const Record& completed, std::optional<MonoTime> good_until = std::nullopt);
  // From the store thread, before anybody hears that the record has been swept.
  void drop(const OperationId& id);

  // From any thread. Nothing unless exactly this request has been answered.
  std::optional<result::Replay> replay(const command::Claim& claim, MonoTime now = MonoTime::min()) const;

 private:
  struct Entry {
    std::string scope;
    std::string key;
    Fingerprint fingerprint;
    result::Replay replay;
    MonoTime good_until;
    std::size_t bytes = 0;
  };
  struct Hash {  // ids are hashes already
    std::size_t operator()(const OperationId& id) const;
  };
  struct Remembered {
    std::shared_ptr<const Entry> entry;
    std::list<OperationId>::iterator place;  // in `oldest_first`
  };
  // Several, so that replays on several threads seldom meet on a lock.
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<OperationId, Remembered, Hash> entries;
    std::list<OperationId> oldest_first;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kShards = 16;

  static void forget(Shard& shard, const OperationId& id);
  Shard& shard_of(const OperationId& id) { return shards_[id.bytes.back() % kShards]; }
  const Shard& shard_of(const OperationId& id) const { return shards_[id.bytes.back() % kShards]; }

  const std::size_t shard_bytes_;
  std::array<Shard, kShards> shards_;
};

}  // namespace stet::stores
