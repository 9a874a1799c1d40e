#pragma once
// The two clocks of an engine that is owned by one process: wall time for retention and for people, monotonic
// time for leases. Injected, so that tests and the simulator hold them.

#include <chrono>
#include <functional>

#include "stet/record.hpp"

namespace stet::stores {

using MonoTime = std::chrono::steady_clock::time_point;

struct Clocks {
  std::function<WallTime()> wall;
  std::function<MonoTime()> mono;
  static Clocks system();
};

struct Now {
  WallTime wall;
  MonoTime mono;
};
inline Now read(const Clocks& clocks) {
  return {clocks.wall(), clocks.mono()};
}

}  // namespace stet::stores
