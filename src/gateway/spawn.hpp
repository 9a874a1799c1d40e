#pragma once
// Starts a coroutine that nobody waits for. What it cannot answer itself ends the process: going on without knowing
// what state things are in is what this gateway must not do.

#include <exception>

#include "gateway/worker.hpp"

namespace stet::gateway {

void spawn(Worker&, Task<void>);

}  // namespace stet::gateway
