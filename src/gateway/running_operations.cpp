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
    --found->second.owners;
    if (found->second.over()) s.running.erase(found);
  }
  waiters_.fetch_sub(told.size(), std::memory_order_relaxed);
  for (const Waiter& waiter : told) {
    const bool concerned = last_word && waiter.request == of.request;
    waiter.tell({concerned ? OwnerNews(owner::Ended{*last_word}) : OwnerNews(owner::NotHere{})});
  }
}

RunsHere RunningOperations::runs(const OperationId& id) const {
  const Shard& s = shard(id);
  const std::lock_guard lock(s.mutex);
  const auto found = s.running.find(id);
  return found != s.running.end() && found->second.owners > 0 ? RunsHere::yes : RunsHere::no;
}

RunningOperations::Waiting RunningOperations::wait(const Of& of, Tell tell, As as) {
  Shard& s = shard(of.id);
  const std::lock_guard lock(s.mutex);
  Running& here = s.running[of.id];
  if (as == As::poller) {  // has its place already
    if (here.owners == 0) return Poll{};
    here.pollers = 0;
  } else {
    if (here.waiters.size() + here.pollers >= per_operation_.load(std::memory_order_relaxed) || !one_more()) {
      if (here.over()) s.running.erase(of.id);
      return TooMany{};
    }
    if (here.owners == 0 && here.pollers == 0) {
      here.pollers = 1;
      return Poll{};
    }
  }
  const Ticket ticket = next_ticket_.fetch_add(1, std::memory_order_relaxed);
  here.waiters.push_back({ticket, of.request, std::move(tell)});
  return ticket;
}

// Counted first and given back when it was one too many: two shards may be asked at once.
bool RunningOperations::one_more() {
  if (waiters_.fetch_add(1, std::memory_order_relaxed) < in_all_.load(std::memory_order_relaxed)) return true;
  waiters_.fetch_sub(1, std::memory_order_relaxed);
  return false;
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

void RunningOperations::stop_polling(const OperationId& id, Polled how) {
  std::vector<Waiter> told;
  Part part = Part::none;
  {
    Shard& s = shard(id);
    const std::lock_guard lock(s.mutex);
    const auto found = s.running.find(id);
    if (found == s.running.end() || found->second.pollers == 0) return;
    Running& here = found->second;
    here.pollers = 0;
    if (here.owners == 0) {  // otherwise its end is what they wait for
      if (how == Polled::seen) {
        told.swap(here.waiters);
      } else if (!here.waiters.empty()) {
        told.push_back(std::move(here.waiters.front()));
        here.waiters.erase(here.waiters.begin());
        here.pollers = 1;
        part = Part::poll;
      }
    }
    if (here.over()) s.running.erase(found);
  }
  // Whoever takes the part over keeps its place.
  waiters_.fetch_sub(1 + (part == Part::none ? told.size() : 0), std::memory_order_relaxed);
  for (const Waiter& waiter : told) waiter.tell({owner::NotHere{}, part});
}

}  // namespace stet::gateway
