#pragma once
// One connection of the demo on a blocking socket, from its first request to its end.

#include "demo/api.hpp"

namespace stet::demo {

// Returns when the connection has ended; `socket` stays open for the caller to close.
void serve_connection(int socket, Api&);

}  // namespace stet::demo
