#pragma once
// Requests from an OpenAPI document (3.x, or the older 2.0): bodies from its examples, or made from its
// schemas.

#include <string>
#include <vector>

#include "probe/request.hpp"

namespace stet::probe {

struct ApiOperation {
  std::string id;  // operationId, or "POST /path" where it has none
  Request request;
  std::string unusable;  // why no request can be made of it; empty when one was
};

// Every POST and PATCH of the document, in its order. `server` replaces the document's own server URL.
Expected<std::vector<ApiOperation>, std::string> read_openapi(const std::string& text,
                                                              const std::string& server);

}  // namespace stet::probe
