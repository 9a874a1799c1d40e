#pragma once
// Ends retentions and tombstones, a slice at a time (docs/protocol.md, `sweep`). Of one worker.

#include <memory>

#include "gateway/station.hpp"

namespace stet::gateway {

// Runs until the io_context ends.
Task<void> sweep_now_and_then(Station&);

}  // namespace stet::gateway
