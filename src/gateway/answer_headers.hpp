#pragma once
// Which lines of an answer are kept, and which are replayed (docs/http.md, "Recorded by default").

#include <string_view>

#include "config/config.hpp"
#include "http/message.hpp"

namespace stet::gateway {

// End-to-end lines of the upstream's answer, as its own caller gets them.
Headers own_caller_headers(const http::Fields&);

// Of these, what is stored: without Set-Cookie and authentication challenges, which belong to one caller and one
// moment, unless response.keep_headers names them.
Headers stored_headers(const Headers&, const config::Route&);
bool all_stored(const Headers&, const config::Route&);

// Of stored lines, what a replay carries under the route as it is configured now.
Headers replayed_headers(const Headers&, const config::Route&);

}  // namespace stet::gateway
