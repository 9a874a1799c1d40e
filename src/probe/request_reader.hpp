#pragma once
// Requests as the probe's own small servers need them (the effects sink, and the servers of its tests).

#include <optional>

#include "probe/wire.hpp"

namespace stet::probe {

// One whole request from a connection, framed by Content-Length or chunks; nothing when the other side ended
// it before. `rest` carries what came beyond it to the next call.
std::optional<Request> read_request(Wire&, std::string& rest, Deadline);

}  // namespace stet::probe
