#include "callers.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "stores/committer/committer.hpp"

namespace stet::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Claims and completes on the store's threads, one operation after the other, until it is told to stop.
class Caller {
 public:
  Caller(stores::Committer& committer, const std::atomic<bool>& stop, std::atomic<std::size_t>& running)
      : committer_(committer), stop_(stop), running_(running) {}

  void claim() {
    if (stop_) {
      --running_;
      return;
    }
    operation_ = new_operation();
    committer_.submit(operation_.claim, [this](const Store::Outcome& outcome) {
      check(outcome);
      complete();
    });
  }
  std::size_t done() const { return done_; }

 private:
  void complete() {
    committer_.submit(operation_.complete, [this](const Store::Outcome& outcome) {
      check(outcome);
      ++done_;
      claim();
    });
  }
  static void check(const Store::Outcome& outcome) {
    const auto* failed = std::get_if<Store::Failed>(&outcome);
    if (failed == nullptr) return;
    std::fprintf(stderr, "store_bench: %s\n", failed->what.c_str());
    std::exit(1);
  }

  stores::Committer& committer_;
  const std::atomic<bool>& stop_;
  std::atomic<std::size_t>& running_;
  Operation operation_;
  std::size_t done_ = 0;
};

}  // namespace

Operation new_operation() {
  Operation operation;
  command::Claim& c = operation.claim;
  c.scope = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
  c.nonce = Nonce::random();
  c.key = Token{"", "", c.nonce, 1}.text();
  c.fingerprint.digest.fill(7);
  c.fingerprint.recipe = "v1 json";
  c.method = "POST";
  c.path = "/v1/charges";
  c.terms.scope_rule = "credentials";
  c.lease = std::chrono::seconds(30);
  operation.complete.token = {c.scope, c.key, c.nonce, 1};
  operation.complete.answer = {201,
                               {{"Content-Type", "application/json"}, {"Location", "/v1/charges/1"}},
                               std::string(200, 'x'),
                               Kept::whole};
  return operation;
}

Measured run_callers(std::vector<std::unique_ptr<Store>> stores, std::size_t callers,
                     std::chrono::seconds time) {
  stores::Committer committer(std::move(stores));
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> running{callers};
  std::vector<std::unique_ptr<Caller>> all;
  for (std::size_t i = 0; i < callers; ++i) all.push_back(std::make_unique<Caller>(committer, stop, running));
  const auto begin = Clock::now();
  for (const auto& caller : all) caller->claim();
  std::this_thread::sleep_for(time);
  stop = true;
  while (running > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  committer.stop();
  Measured measured;
  for (const auto& caller : all) measured.operations += caller->done();
  const auto stats = committer.stats();
  measured.operations_a_second = static_cast<double>(measured.operations) / took;
  measured.commands_a_batch = static_cast<double>(stats.commands) / static_cast<double>(stats.batches);
  return measured;
}

}  // namespace stet::bench
