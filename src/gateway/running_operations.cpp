#include "gateway/running_operations.hpp"

namespace stet::gateway {

void RunningOperations::set_limits(Limits limits) {
  per_operation_.store(limits.per_operation, std::memory_order_relaxed);
  in_all_.store(limits.in_all, std::memory_order_relaxed);
}

void RunningOperations::begin(const OperationId& id) {
  Shard& s = shard(id);
  const std::lock_guard lock(s.mutex);
  ++s.running[id].owners;
}

void RunningOperations::end(const Of& of, std::optional<Shown> last_word) {
  std::vector<Waiter> told;
  {
    Shard& s = shard(of.id);
    const std::lock_guard lock(s.mutex);
    const auto found = s.running.find(of.id);
    if (found == s.running.end()) return;
    told.swap(found->second.waiters);
    if (--found->second.owners == 0) s.running.erase(found);
  }
  waiters_.fetch_sub(told.size(), std::memory_order_relaxed);
  for (const Waiter& waiter : told) {
    const bool concerned = last_word && waiter.request == of.request;
    waiter.tell(concerned ? OwnerNews(owner::Ended{*last_word}) : OwnerNews(owner::NotHere{}));
  }
}

RunsHere RunningOperations::runs(const OperationId& id) const {
  const Shard& s = shard(id);
  const std::lock_guard lock(s.mutex);
  return s.running.contains(id) ? RunsHere::yes : RunsHere::no;
}

RunningOperations::Waiting RunningOperations::wait(const Of& of, Tell tell) {
  Shard& s = shard(of.id);
  const std::lock_guard lock(s.mutex);
  const auto found = s.running.find(of.id);
  if (found == s.running.end()) return NotHere{};
  auto& here = found->second.waiters;
  if (here.size() >= per_operation_.load(std::memory_order_relaxed)) return TooMany{};
  // Counted first and given back when it was one too many: two shards may be asked at once.
  if (waiters_.fetch_add(1, std::memory_order_relaxed) >= in_all_.load(std::memory_order_relaxed)) {
    waiters_.fetch_sub(1, std::memory_order_relaxed);
    return TooMany{};
  }
  const Ticket ticket = next_ticket_.fetch_add(1, std::memory_order_relaxed);
  here.push_back({ticket, of.request, std::move(tell)});
  return ticket;
}

void RunningOperations::leave(const OperationId& id, Ticket ticket) {
  Tell dropped;  // destroyed outside the lock
  Shard& s = shard(id);
  const std::lock_guard lock(s.mutex);
  const auto found = s.running.find(id);
  if (found == s.running.end()) return;
  auto& here = found->second.waiters;
  for (auto it = here.begin(); it != here.end(); ++it) {
    if (it->ticket != ticket) continue;
    dropped = std::move(it->tell);
    here.erase(it);
    waiters_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
}

}  // namespace stet::gateway
