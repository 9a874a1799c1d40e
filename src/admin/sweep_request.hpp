#pragma once
// The body of POST /api/sweep.

#include <string>
#include <string_view>

#include "stet/error.hpp"
#include "stet/store.hpp"

namespace stet::admin {

// Empty, {} or {"trust_clock": true}: an operator says that a wall clock that jumped is right now
// (protocol.md, rule 3). Without it a job that nobody watches stops at a jump, like the gateway's own sweep.
Expected<command::Sweep::Clock, std::string> parse_sweep(std::string_view json);

}  // namespace stet::admin
