#include "stores/answer_cache.hpp"

#include <cstring>
#include <utility>

namespace stet::stores {
namespace {

// An entry's nodes, strings' heads and places in the queue; measured, not exact.
constexpr std::size_t kOverhead = 400;

std::size_t bytes_of(const Record& r) {
  std::size_t bytes = kOverhead + r.token.scope.size() + r.token.key.size() + r.fingerprint.recipe.size() +
                      r.answer->body.size();
  for (const Header& header : r.answer->headers)
    bytes += sizeof(Header) + header.name.size() + header.value.size();
  return bytes;
}

}  // namespace

AnswerCache::AnswerCache(std::size_t bytes) : shard_bytes_(bytes / kShards) {}

std::size_t AnswerCache::Hash::operator()(const OperationId& id) const {
  std::size_t hash = 0;
  std::memcpy(&hash, id.bytes.data(), sizeof hash);
  return hash;
}

void AnswerCache::keep(const Record& r, std::optional<MonoTime> good_until) {
  const std::size_t bytes = bytes_of(r);
  if (bytes > shard_bytes_) return;
  const OperationId id = r.id();
  auto entry = std::make_shared<const Entry>(Entry{r.token.scope,
                                                   r.token.key,
                                                   r.fingerprint,
                                                   {r.answer.value(), r.expires_at},
                                                   good_until.value_or(MonoTime::max()),
                                                   bytes});
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  if (good_until) forget(shard, id);
  if (shard.entries.contains(id)) return;
  std::list<OperationId> place(1, id);
  shard.entries.emplace(id, Remembered{std::move(entry), place.begin()});
  shard.oldest_first.splice(shard.oldest_first.end(), place);
  shard.bytes += bytes;
  while (shard.bytes > shard_bytes_) forget(shard, shard.oldest_first.front());
}

void AnswerCache::drop(const OperationId& id) {
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  forget(shard, id);
}

void AnswerCache::forget(Shard& shard, const OperationId& id) {
  const auto kept = shard.entries.find(id);
  if (kept == shard.entries.end()) return;
  shard.bytes -= kept->second.entry->bytes;
  shard.oldest_first.erase(kept->second.place);
  shard.entries.erase(kept);
}

std::optional<result::Replay> AnswerCache::replay(const command::Claim& claim, MonoTime now) const {
  const OperationId id = OperationId::of(claim.scope, claim.key);
  const Shard& shard = shard_of(id);
  std::shared_ptr<const Entry> entry;
  {
    const std::lock_guard lock(shard.mutex);
    const auto at = shard.entries.find(id);
    if (at == shard.entries.end()) return std::nullopt;
    entry = at->second.entry;
  }
  if (now >= entry->good_until) return std::nullopt;
  if (entry->scope != claim.scope || entry->key != claim.key || entry->fingerprint != claim.fingerprint) {
    return std::nullopt;
  }
  return entry->replay;
}

}  // namespace stet::stores
