#pragma once
// Content-Type (RFC 9110 section 8.3).

#include <optional>
#include <string>
#include <string_view>

namespace stet::identify {

std::string lower(std::string_view);  // ASCII

// "Application/JSON; charset=utf-8" → "application/json".
std::string essence(std::string_view content_type);
bool is_json(std::string_view essence);  // application/json and every +json (RFC 6839)

// The value of a parameter, unquoted. nothing: it is not there, it stands twice, or the parameters are
// malformed.
std::optional<std::string> parameter(std::string_view content_type, std::string_view lower_case_name);

}  // namespace stet::identify
