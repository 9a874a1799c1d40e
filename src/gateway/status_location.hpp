#pragma once
// /.well-known/stet/operations/<id>: what became of an operation, for callers who are in its scope.

#include <memory>

#include "gateway/request.hpp"
#include "gateway/station.hpp"

namespace stet::gateway {

Task<Response> status_of_operation(Station&, std::shared_ptr<const Request>, std::string_view id);

Response not_found();

}  // namespace stet::gateway
