#pragma once
// POST /webhooks/provider: the provider says what it has done, at least once, in any order, and at any time:
// before the answer to our own call as well. None of that meets our clients' retries; the two are known by
// different names.

#include "database.hpp"
#include "http.hpp"

namespace booking {

Response receive_event(Database&, const std::string& secret, const Request&);

}  // namespace booking
