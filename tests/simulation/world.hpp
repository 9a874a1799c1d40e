#pragma once
// Gateways, a store, an upstream and clients in one thread on a virtual clock. The gateways run the real
// machine (stet::Exchange) on the real commands; everything between them fails as a seed says.

#include <functional>
#include <memory>
#include <queue>
#include <random>

#include "ledger.hpp"
#include "stores/memory/memory_store.hpp"

namespace stet::simulation {

struct Chances {        // of a hundred
  int store_fails = 8;  // half of them after, or long after, the command took effect
  int not_sent = 5;
  int answer_lost = 10;
  int request_lost = 5;
  int upstream_silent = 3;
  int slow = 15;           // beyond the lease
  int other_request = 10;  // a client reuses the key for something else
  int crash = 10;          // of a gateway, per client attempt
  int reconciles = 30;     // a gateway looks for lapsed records, per client attempt

  // Of an upstream that joins:
  int held = 20;           // it holds the record for seconds between stet.complete and COMMIT
  int rolled_back = 10;    // it fails in its transaction
  int proxy_gives_up = 5;  // somebody in between answers 504, and the upstream works on
};

struct Counts {
  std::size_t replays = 0, unknowns = 0, crashes = 0, fenced = 0, take_overs = 0, waits = 0, late = 0,
              mismatches = 0, reconciled = 0;
  std::size_t zombies =
                  0,     // upstreams whose commit failed because another attempt has the operation, or none
      refused = 0,       // commands that met a record which an upstream held
      not_executed = 0,  // callers who were told so of an attempt that was sent
      saved = 0;         // answers that were lost on the way, and shown all the same
};

class World {
 public:
  World(std::uint64_t seed, Policy policy, Ledger::Upstream upstream, Chances chances = {});

  // Clients send each of `keys` intents several times, from several gateways, while everything fails; then
  // nothing fails any more and each intent is sent until it is settled. Breaches of the protocol's invariants
  // come back as sentences.
  std::vector<std::string> run(int keys);
  const Counts& counts() const { return counts_; }

 private:
  using Job = std::function<void()>;
  struct Run;
  struct Timed {
    MonoTime at;
    std::uint64_t order;
    Job job;
    bool operator<(const Timed& other) const { return std::tie(other.at, other.order) < std::tie(at, order); }
  };
  struct Gateway {
    std::uint64_t life = 0;  // grows with each restart
    std::map<OperationId, std::shared_ptr<Run>> running;
  };

  void after(milliseconds delay, Job job);
  void drain();
  bool chance(int of_hundred) { return std::uniform_int_distribution<int>(0, 99)(random_) < of_hundred; }
  milliseconds between(int low, int high) {
    return milliseconds(std::uniform_int_distribution<int>(low, high)(random_));
  }

  void send(const std::string& key, std::size_t gateway, std::uint8_t request,
            std::function<void(const Shown*)> told);
  void crash(std::size_t gateway);
  void step(const std::shared_ptr<Run>&, const Event&);
  void follow(const std::shared_ptr<Run>&, const Action&);
  void ask_store(const std::shared_ptr<Run>&, std::function<Event()> command);
  void forward(const std::shared_ptr<Run>&, const Token&);
  void forward_joined(const std::shared_ptr<Run>&, const Token&);
  void begin_transaction(const std::shared_ptr<Run>&, const Token&);
  void commit(const std::shared_ptr<Run>&, const Token&);
  Store::Outcome execute(const Command&);
  void reconcile_lapsed();
  void check_joined(const std::shared_ptr<Run>&, const Shown&);
  void check_effects(const std::string& key);
  void await_owner(const std::shared_ptr<Run>&, milliseconds pause);
  void ended(const std::shared_ptr<Run>&);
  void check(const std::string& key, std::uint8_t request, const Shown&);
  void settle_everything(int keys);
  bool untouched(const std::string& key);

  std::mt19937_64 random_;
  Chances chances_;
  Policy policy_;
  Ledger ledger_;
  MonoTime now_{std::chrono::hours(1)};
  std::uint64_t order_ = 0;
  std::priority_queue<Timed> queue_;
  std::unique_ptr<Store> store_;
  std::vector<Gateway> gateways_{3};
  std::map<std::string, Answer> first_answers_;
  std::map<std::string, std::size_t> in_flight_;  // attempts whose effect may still come
  std::set<std::string> freed_untouched_;
  bool joins_ = false;
  std::set<std::string> held_;           // keys whose records an upstream's open transaction holds
  std::set<std::string> sent_, denied_;  // tokens that went upstream, and those that were called not executed
  std::vector<std::string> breaches_;
  Counts counts_;
};

}  // namespace stet::simulation
