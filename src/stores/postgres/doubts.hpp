#pragma once
// Claims and take-overs whose outcome is unknown: their transaction may still be on its way, waiting for a synchronous
// standby, say.

#include <chrono>
#include <map>
#include <mutex>

#include "stet/identity.hpp"
#include "stores/clocks.hpp"

namespace stet::stores::postgres {

// Whoever meets the lock of its own earlier claim is not told that somebody else is running it. From any
// thread.
class Doubts {
 public:
  void add(const Nonce& nonce, MonoTime now) {
    const std::lock_guard lock(mutex_);
    std::erase_if(since_, [&](const auto& entry) { return now - entry.second > kRemembered; });
    since_.insert_or_assign(nonce, now);
  }
  bool has(const Nonce& nonce) const {
    const std::lock_guard lock(mutex_);
    return since_.contains(nonce);
  }

 private:
  // Callers repeat a claim for some seconds, and withdraw one for as long as its lease.
  static constexpr std::chrono::minutes kRemembered{2};

  mutable std::mutex mutex_;
  std::map<Nonce, MonoTime> since_;
};

}  // namespace stet::stores::postgres
