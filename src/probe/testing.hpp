#pragma once
// For the tests beside this file: an API in this process that is right in everything but one flaw.

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "probe/run.hpp"

namespace stet::probe::testing {

enum class Flaw {
  none,
  ignores_keys,
  looks_then_acts,
  forgets_across_connections,
  forgets_when_nobody_listens,
  starts_late_when_nobody_listens,  // a busy server; and each replay has a body of its own, not the first answer's
  acts_on_half_a_request,
  bare_replay,
  replays_any_payload,
  compares_bytes,
  replays_on_any_route,
  one_scope_for_all,
  fails_differently_on_retry,
  pins_passing_errors,
  accepts_odd_keys,
  ignores_case,
  cuts_long_keys,
  hashes_parameters,
};

// Whether an effect is a number in the API itself (GET /effects) or a call of $STET_PROBE_SINK.
enum class EffectKind { own, downstream };

// POST /things and POST /others make one effect each; the amount must be above 0. An operation takes a few
// ms.
class ToyApi {
 public:
  explicit ToyApi(Flaw, EffectKind = EffectKind::own);
  ToyApi(const ToyApi&) = delete;
  ToyApi& operator=(const ToyApi&) = delete;
  ~ToyApi();

  Settings settings() const;  // with all that the checks can use; few rounds, little patience
  std::int64_t effects() const { return effects_.load(); }

 private:
  struct Kept {
    std::string meaning;
    std::string answer;  // empty while the first attempt runs
  };

  void accept_all();
  void serve(int fd, int connection);
  std::string respond(const Request&, int connection, const Wire&);
  std::string keyed(const Request&, const std::string& place, const Wire&);
  std::string act(const Request&);

  Flaw flaw_;
  EffectKind kind_;
  Listener listener_;
  std::atomic<std::int64_t> effects_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable finished_;
  std::map<std::string, Kept> kept_;  // guarded by mutex_
  std::set<std::string> refused_;     // guarded by mutex_
  std::vector<std::thread> threads_;  // guarded by mutex_
  std::thread acceptor_;
};

// A port of 127.0.0.1 that stays ours: it refuses connections until a process of the test listens there, and again after that.
class OwnPort {
 public:
  OwnPort();
  OwnPort(const OwnPort&) = delete;
  OwnPort& operator=(const OwnPort&) = delete;
  ~OwnPort();
  std::uint16_t number() const { return number_; }

 private:
  int fd_;
  std::uint16_t number_ = 0;
};

// What one check finds. A run that ends without a verdict fails the test with its reason.
Finding probe_with(const Check&, const Settings&);
Finding probe_with(const Check&, Flaw);

}  // namespace stet::probe::testing
