#include "stores/wall_guard.hpp"

#include <utility>

namespace stet::stores {
namespace {

constexpr std::chrono::seconds kTolerated(60);
constexpr int kCleanPasses = 3;

}  // namespace

result::SweepClock WallGuard::pass(const Now& now, command::Sweep::Clock clock) {
  const std::optional<Now> last = std::exchange(last_, now);
  if (clock == command::Sweep::Clock::trusted) {
    clean_passes_wanted_ = 0;
    return result::SweepClock::sane;
  }
  if (last) {
    const auto drift = std::chrono::abs((now.wall - last->wall) - (now.mono - last->mono));
    if (drift > kTolerated) {
      clean_passes_wanted_ = kCleanPasses;
      return result::SweepClock::jumped;
    }
  }
  if (clean_passes_wanted_ == 0) return result::SweepClock::sane;
  --clean_passes_wanted_;
  return result::SweepClock::jumped;
}

}  // namespace stet::stores
