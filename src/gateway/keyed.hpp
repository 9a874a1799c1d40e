#pragma once
// A request on a route that takes keys: read whole, identified, and handed to an Operation.

#include "gateway/session.hpp"

namespace stet::gateway {

Task<After> serve_keyed(Session&, std::shared_ptr<Request>);

}  // namespace stet::gateway
