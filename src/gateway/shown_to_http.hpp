#pragma once
// What a caller is shown, as an answer (docs/http.md, "Answers" and "Problems").

#include "config/config.hpp"
#include "gateway/request.hpp"
#include "stet/shown.hpp"

namespace stet::gateway {

// `own_lines`: the upstream's lines for the caller of this very attempt, which are more than what is stored
// (Set-Cookie); nullptr when the answer is somebody else's or a replay.
Response shown_to_http(Shown, const config::Route&, const Headers* own_lines);

std::string status_location(const OperationId&);

}  // namespace stet::gateway
