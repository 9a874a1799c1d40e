#include "stet/sweeper.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "library/pause.hpp"

namespace stet {

Sweeper::Sweeper(Pool& pool, SweeperOptions options) : pool_(pool), options_(std::move(options)) {
  if (options_.rows == 0)
    throw std::invalid_argument("SweeperOptions::rows is 0: a sweep of nothing never ends");
}

result::Swept Sweeper::run_once() {
  return pass({});
}

result::Swept Sweeper::pass(const std::stop_token& stop) {
  result::Swept all;
  do {
    const Command sweep = command::Sweep{options_.rows};
    const Store::Outcome outcome = std::move(pool_.execute({&sweep, 1}).at(0));
    if (const auto* failed = std::get_if<Store::Failed>(&outcome))
      throw StoreError(failed->kind, failed->what);
    const auto& swept = std::get<result::Swept>(std::get<Result>(outcome));
    all.expired += swept.expired;
    all.removed += swept.removed;
    all.clock = swept.clock;
    all.more = swept.more;
  } while (all.more && !stop.stop_requested());
  return all;
}

void Sweeper::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      if (pass(stop).clock == result::SweepClock::jumped && options_.notice) {
        options_.notice("nothing was swept: the wall clock has jumped");
      }
    } catch (const std::exception& error) {
      if (options_.notice) options_.notice(std::string("the sweep failed: ") + error.what());
    }
    library::pause(stop, options_.every);
  }
}

}  // namespace stet
