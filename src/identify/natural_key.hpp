#pragma once
// Keys out of the request itself, for clients that cannot send a header (http.md, "Natural keys").

#include <string>
#include <string_view>

#include "identify/identify.hpp"

namespace stet::identify {

// The stored key is "natural|<route>|<source>|<value>". For a path the value is the path up to and with the
// segment, so that /orders/42 and /users/42 are two keys even where one route with wildcards takes both.
Expected<std::string, Refusal> find_natural_key(const config::Route&, const http::RequestHead&,
                                                std::string_view body);

// What a key from a header is stored under: itself, moved out of the way where it looks like one of ours.
std::string stored_header_key(std::string key);
// The way back. A key of ours is itself; one that had to be hashed to be moved stays as it is stored.
std::string_view header_key_of(std::string_view stored);

}  // namespace stet::identify
