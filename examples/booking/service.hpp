#pragma once
// The routes.

#include <httplib.h>

#include "options.hpp"
#include "payments.hpp"

namespace booking {

// What is borrowed outlives the server.
void add_routes(httplib::Server&, Database&, Payments&, const Options&);

}  // namespace booking
