#pragma once
// Pending records whose owner is gone and that nobody retries: each is settled by its own policy, so that none is
// without a way out (docs/protocol.md, rule 7). Of one worker.

#include <map>
#include <memory>
#include <random>

#include "gateway/station.hpp"

namespace stet::gateway {

class Reconciler {
 public:
  explicit Reconciler(Station& station) : station_(station) {}
  // Runs until the io_context ends.
  Task<void> run();

 private:
  struct Asked {
    MonoTime next;
    std::chrono::milliseconds pause;
    bool seen = false;  // in this pass
  };
  Task<void> pass();
  Task<void> settle(const Record&);
  Task<void> ask(const Record&, const config::Route&);
  std::chrono::milliseconds about(std::chrono::milliseconds);

  Station& station_;
  std::map<OperationId, Asked> asked_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace stet::gateway
