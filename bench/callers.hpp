#pragma once
// Many callers before a committer, each with one operation at a time: what the gateway's requests do to a
// store.

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "stet/store.hpp"

namespace stet::bench {

struct Operation {
  command::Claim claim;
  command::Complete complete;
};
// Under a new random key.
Operation new_operation();

struct Measured {
  std::size_t operations = 0;  // claimed and completed
  double operations_a_second = 0;
  double commands_a_batch = 0;
};
Measured run_callers(std::vector<std::unique_ptr<Store>> stores, std::size_t callers,
                     std::chrono::seconds time);

}  // namespace stet::bench
