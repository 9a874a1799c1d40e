#pragma once
// Ends what is past its retention: completed records become tombstones, tombstones go. Nothing else ends
// them.
//
// Owner: you. Threads: run() in one thread of yours; several processes may run one each.

#include <functional>
#include <stop_token>
#include <string_view>

#include "stet/pool.hpp"

namespace stet {

struct SweeperOptions {
  milliseconds every = std::chrono::seconds(60);
  std::size_t rows = 1000;                         // in one transaction at the most; not 0
  std::function<void(std::string_view)> notice{};  // one line for your log; called by run() only
};

class Sweeper {
 public:
  explicit Sweeper(Pool&, SweeperOptions = {});

  // Sweeps until nothing is due. `clock` jumped: the wall clock moved more than a minute against the
  // monotonic one since the last pass, and nothing was swept (docs/protocol.md, rule 3). Throws StoreError.
  result::Swept run_once();
  // Until told to stop; it stops after the transaction that it is at. Throws nothing: trouble goes to
  // `notice`.
  void run(const std::stop_token&);

 private:
  result::Swept pass(const std::stop_token&);

  Pool& pool_;
  SweeperOptions options_;
};

}  // namespace stet
