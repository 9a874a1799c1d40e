#include "admin/metrics.hpp"

#include <iterator>

namespace stet::admin {

void StoreMetrics::batch(std::span<const Command> commands, std::span<const Store::Outcome> outcomes,
                         std::chrono::nanoseconds commit) {
  batches.add();
  batch_size.observe(commands.size());
  commit_duration.observe(commit);
  for (std::size_t i = 0; i < commands.size() && i < outcomes.size(); ++i) {
    if (const auto* alone = std::get_if<Store::Failed>(&outcomes[i])) {
      failed(alone->kind);
      continue;
    }
    const auto& result = std::get<Result>(outcomes[i]);
    by_result[commands[i].index()][result.index()].add();
    if (const auto* swept = std::get_if<result::Swept>(&result)) {
      expired.add(swept->expired);
      removed.add(swept->removed);
      sweep_halted.set(swept->clock == result::SweepClock::jumped ? 1 : 0);
    }
  }
}

Metrics::Metrics() : started_(std::chrono::system_clock::now()) {
  store.reachable.set(1);
}

RouteMetrics& Metrics::route(std::string_view name) {
  const std::scoped_lock lock(mutex_);
  for (const auto& each : routes_) {
    if (each->name == name) return *each;
  }
  return *routes_.emplace_back(std::make_unique<RouteMetrics>(std::string(name)));
}

void Metrics::watch_dropped_lines(std::function<std::uint64_t()> dropped) {
  const std::scoped_lock lock(mutex_);
  dropped_lines_ = std::move(dropped);
}

}  // namespace stet::admin
