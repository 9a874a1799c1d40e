#pragma once
// What browsers must be told so that a page can send a key and read what became of it (docs/http.md, "Browsers").
// Fetch standard, section 3.2.

#include "config/config.hpp"
#include "gateway/request.hpp"
#include "http/message.hpp"

namespace stet::gateway {

// On the gateway's own and on keyed answers.
void add_cors(Response&, const config::Config&, const http::RequestHead&);

// On answers of the upstream that pass: its allowed and exposed headers get ours where it allows the origin.
// `route` is the one that the page's request will take.
void extend_cors(Headers&, const config::Config&, const http::RequestHead&, const config::Route&);

// The answer to a preflight from an allowed origin when the upstream has none of its own (an error, say).
std::optional<Response> own_preflight(const config::Config&, const http::RequestHead&, const config::Route&);

// The method that a preflight asks about; nothing: it is none.
std::optional<std::string_view> preflight_method(const http::RequestHead&);

}  // namespace stet::gateway
