#pragma once
// The demo's own book of charges, on SQLite. What `add` returned survives a kill and a power cut
// (synchronous=FULL). Safe to call from any thread; calls are served one at a time. Errors are StoreError.

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "demo/charge.hpp"

struct sqlite3;

namespace stet::demo {

class Ledger {
 public:
  explicit Ledger(const std::string& path);
  ~Ledger();
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  Charge add(const ChargeOrder&, const Provenance&);
  std::optional<Charge> find(std::int64_t number);
  // The oldest first; `key`: only those that came with this Idempotency-Key.
  std::vector<Charge> list(const std::optional<std::string>& key, std::int64_t limit);
  std::uint64_t count(const std::optional<std::string>& key);
  // True the first time for each key, durably: faults that strike once also strike once around a crash.
  bool first_fault_for(const std::string& key);

 private:
  std::mutex mutex_;
  sqlite3* db_ = nullptr;
};

}  // namespace stet::demo
