#include "gateway/sweeper.hpp"

#include "gateway/store_call.hpp"

namespace stet::gateway {
namespace {

// Between two slices of one pass, so that claims are not kept waiting.
constexpr std::chrono::milliseconds kBreath{20};
constexpr std::size_t kSlice = 1000;

}  // namespace

Task<void> sweep_now_and_then(Station& station) {
  Timer timer(station.worker.executor());
  for (;;) {
    timer.expires_after(station.snapshot->config().sweep_every);
    co_await timer.async_wait(as_result);
    for (;;) {
      const Store::Outcome outcome =
          co_await execute(station, command::Sweep{kSlice, command::Sweep::Clock::checked});
      const auto* done = std::get_if<Result>(&outcome);
      const auto* swept = done == nullptr ? nullptr : std::get_if<result::Swept>(done);
      if (swept == nullptr) break;  // the store is away: the next pass finds the same rows
      if (swept->clock == result::SweepClock::jumped) {
        station.shared.log.event(
            admin::Level::warning, "sweep-halted",
            "the wall clock moved by more than a minute: nothing is swept until it was steady "
            "for three passes, or an operator sweeps");
        break;
      }
      if (!swept->more) break;
      timer.expires_after(kBreath);
      co_await timer.async_wait(as_result);
    }
  }
}

}  // namespace stet::gateway
