#pragma once
// The body of POST /api/sweep.

#include <string>
#include <string_view>

#include "stet/error.hpp"
#include "stet/store.hpp"

namespace stet::admin {

// Empty or {}: an operator who sweeps says that the wall clock is right, even when it has jumped (protocol.md, rule 3).
// {"trust_clock": false} is for jobs that nobody watches: they stop at a jump like the gateway's own sweep.
Expected<command::Sweep::Clock, std::string> parse_sweep(std::string_view json);

}  // namespace stet::admin
