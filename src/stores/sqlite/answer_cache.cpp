#include "stores/sqlite/answer_cache.hpp"

#include <cstring>
#include <utility>

namespace stet::stores::sqlite {
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

void AnswerCache::keep(const Record& r) {
  const std::size_t bytes = bytes_of(r);
  if (bytes > shard_bytes_) return;
  const OperationId id = r.id();
  auto entry = std::make_shared<const Entry>(
      Entry{r.token.scope, r.token.key, r.fingerprint, {r.answer.value(), r.expires_at}, bytes});
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  if (!shard.entries.emplace(id, std::move(entry)).second) return;
  shard.oldest_first.push_back(id);
  shard.bytes += bytes;
  for (;;) {
    const auto oldest = shard.entries.find(shard.oldest_first.front());
    const bool dropped = oldest == shard.entries.end();
    if (!dropped && shard.bytes <= shard_bytes_) return;
    shard.oldest_first.pop_front();
    if (dropped) continue;
    shard.bytes -= oldest->second->bytes;
    shard.entries.erase(oldest);
  }
}

void AnswerCache::drop(const OperationId& id) {
  Shard& shard = shard_of(id);
  const std::lock_guard lock(shard.mutex);
  const auto entry = shard.entries.find(id);
  if (entry == shard.entries.end()) return;
  shard.bytes -= entry->second->bytes;
  shard.entries.erase(entry);
}

std::optional<result::Replay> AnswerCache::replay(const command::Claim& claim) const {
  const OperationId id = OperationId::of(claim.scope, claim.key);
  const Shard& shard = shard_of(id);
  std::shared_ptr<const Entry> entry;
  {
    const std::lock_guard lock(shard.mutex);
    const auto at = shard.entries.find(id);
    if (at == shard.entries.end()) return std::nullopt;
    entry = at->second;
  }
  if (entry->scope != claim.scope || entry->key != claim.key || entry->fingerprint != claim.fingerprint) {
    return std::nullopt;
  }
  return entry->replay;
}

}  // namespace stet::stores::sqlite
