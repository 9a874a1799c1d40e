#pragma once
// A store that forgets everything with the process: for tests and the simulator. Nothing here is durable.

#include <memory>

#include "stet/store.hpp"
#include "stores/clocks.hpp"

namespace stet::stores {

std::unique_ptr<Store> make_memory_store(Clocks clocks = Clocks::system());

}  // namespace stet::stores
