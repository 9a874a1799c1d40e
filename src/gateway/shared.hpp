#pragma once
// What the workers share. Outlives them.

#include <atomic>

#include "admin/log.hpp"
#include "admin/metrics.hpp"
#include "gateway/body_budget.hpp"
#include "gateway/running_operations.hpp"
#include "stores/committer/committer.hpp"

namespace stet::gateway {

struct Shared {
  admin::Log& log;
  admin::Metrics& metrics;
  stores::Committer& store;
  RunningOperations running;
  BodyBudget bodies;
  std::atomic<std::size_t> connections{0};  // of callers
  std::atomic<std::size_t> turned_away{0};  // of those who are being told that there are too many
  std::atomic<std::size_t> operations{0};   // of this process, with a caller or without
  std::atomic<std::size_t> next_upstream{0};
  std::atomic<bool> draining{false};
};

}  // namespace stet::gateway
