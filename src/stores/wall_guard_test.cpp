#include "stores/wall_guard.hpp"

#include <gtest/gtest.h>

namespace stet::stores {
namespace {

using namespace std::chrono_literals;
using Clock = command::Sweep::Clock;
using result::SweepClock;

TEST(WallGuard, trusts_the_first_pass_because_there_is_nothing_to_compare) {
  WallGuard guard;
  EXPECT_EQ(guard.pass({WallTime(1h), MonoTime(1h)}, Clock::checked), SweepClock::sane);
}

TEST(WallGuard, tolerates_exactly_a_minute) {
  WallGuard guard;
  guard.pass({WallTime(1h), MonoTime(1h)}, Clock::checked);
  EXPECT_EQ(guard.pass({WallTime(2h + 60s), MonoTime(2h)}, Clock::checked), SweepClock::sane);
  EXPECT_EQ(guard.pass({WallTime(3h + 120s + 1ms), MonoTime(3h)}, Clock::checked), SweepClock::jumped);
}

TEST(WallGuard, does_not_add_up_what_drifts_slowly) {
  WallGuard guard;
  milliseconds drift = 0ms;
  for (int i = 0; i < 100; ++i, drift += 30s) {
    EXPECT_EQ(guard.pass({WallTime(1h * i + drift), MonoTime(1h * i)}, Clock::checked), SweepClock::sane);
  }
}

}  // namespace
}  // namespace stet::stores
