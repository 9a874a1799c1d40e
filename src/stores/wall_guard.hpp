#pragma once
// Keeps a sweep from believing a wall clock that has jumped: a clock set a year ahead would end every
// retention at once.

#include <chrono>
#include <optional>

#include "stet/store.hpp"
#include "stores/clocks.hpp"

namespace stet::stores {

// docs/protocol.md, rule 3: a wall clock that moved more than a minute against the monotonic one since the
// last pass stops the sweep until three clean passes, or until somebody says that the clock is right.
class WallGuard {
 public:
  // One pass of the sweep. `jumped`: sweep nothing now.
  result::SweepClock pass(const Now& now, command::Sweep::Clock clock);

 private:
  std::optional<Now> last_;
  int clean_passes_wanted_ = 0;
};

}  // namespace stet::stores
