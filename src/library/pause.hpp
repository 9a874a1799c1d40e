#pragma once
// Sleeping that a stop token ends.

#include <chrono>
#include <stop_token>

namespace stet::library {

void pause(const std::stop_token&, std::chrono::milliseconds);

}  // namespace stet::library
