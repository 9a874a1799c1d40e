#pragma once
// A counting HTTP server for an API under test whose effect is a call of its own: it is configured to call
// this instead of the real payment provider. Like one, it takes calls with the same Idempotency-Key for one.
// It can also be out of order on command.

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "probe/effects.hpp"

namespace stet::probe {

class EffectsSink : public Effects {
 public:
  explicit EffectsSink(const Endpoint&);
  ~EffectsSink() override;

  Endpoint endpoint() const { return listener_.endpoint(); }
  Expected<std::int64_t, std::string> count(const Route&) override { return accepted_.load(); }
  std::string describe() const override;

  // While out, calls are answered 503 and are no effects.
  enum class Health : std::uint8_t { well, out };
  void become(Health health) { health_ = health; }
  std::int64_t turned_away() const { return turned_away_.load(); }

 private:
  void accept_all();
  void serve(int fd);
  std::string respond(const Request&);

  Listener listener_;
  std::atomic<std::int64_t> accepted_{0};
  std::atomic<std::int64_t> turned_away_{0};
  std::atomic<Health> health_{Health::well};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<std::thread> servers_;  // guarded by mutex_
  std::set<std::string> keys_;        // guarded by mutex_
  std::thread acceptor_;
};

}  // namespace stet::probe
