#pragma once
// More connections than the gateway takes: each is told so, and ends.

#include "gateway/station.hpp"

namespace stet::gateway {

Task<void> turn_away(Station&, Socket);

}  // namespace stet::gateway
