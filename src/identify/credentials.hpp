#pragma once
// The caller's credentials: Authorization, X-Api-Key and Api-Key, and when they are a safe scope without
// anybody having said so (http.md, "The scope").

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"
#include "stet/error.hpp"

namespace stet::identify {

// All that there is of the three, unambiguously; empty: none. The error is a sentence: one of them is empty
// or stands in several lines, of which the upstream may look at another than we do.
Expected<std::string, std::string> credentials_of(const http::Fields&);

// Why the credentials would be a guess at who is calling, and what to configure instead; nothing: they are
// not. `key_headers` are no credentials, whatever their names contain.
std::optional<std::string> doubt_about_default(const http::Fields&,
                                               const std::vector<std::string>& key_headers);

// The values of a cookie in all Cookie lines (RFC 6265 section 4.2.1), as they came.
std::vector<std::string_view> cookie_values(const http::Fields&, std::string_view name);

}  // namespace stet::identify
