#pragma once
// /.well-known/stet/contract: what the running configuration promises to callers for each route, because the
// retention window belongs in the API's documentation. It names no upstream, no secret and no trusted header.

#include <string>
#include <string_view>

#include "config/config.hpp"

namespace stet::admin {

// The answer to GET, by Accept: HTML for people, JSON for programs and for whoever does not say.
Answer contract_answer(const config::Config&, std::string_view accept);

std::string contract_html(const config::Config&);
std::string contract_json(const config::Config&);

}  // namespace stet::admin
