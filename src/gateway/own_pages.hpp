#pragma once
// What the gateway answers by itself, under /.well-known/stet/ (docs/http.md).

#include "gateway/session.hpp"

namespace stet::gateway {

bool is_own_page(const http::RequestHead&);
Task<After> serve_own_page(Session&, std::shared_ptr<Request>);

}  // namespace stet::gateway
