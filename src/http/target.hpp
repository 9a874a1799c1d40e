#pragma once
// Paths and queries (RFC 3986): for matching routes and for keys out of them. What goes upstream is the
// target as it came, or join_target of it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stet::http {

// nothing: a '%' without two hex digits behind it.
std::optional<std::string> percent_decode(std::string_view);

// A path in the form that routes are matched against, so that no spelling of it slips past a rule: escapes
// decoded (but "%2F" and "%25" stay, so that they are neither separator nor escape), dot segments resolved,
// repeated slashes one. Always begins with '/'. nothing: a bad escape, or "%00".
std::optional<std::string> normalise_path(std::string_view path);

// "/a/b%2Fc/" → {"a", "b/c", ""}: decoded, of a path as it came or normalised. nothing: a bad escape.
std::optional<std::vector<std::string>> path_segments(std::string_view path);

// The decoded values of a query parameter, in order ('+' is a space, as forms write it). nothing: a bad
// escape in the query.
std::optional<std::vector<std::string>> query_values(std::string_view query, std::string_view name);

// The target under an upstream's own path: ("/api", "/charges?x") → "/api/charges?x". `*` stays.
std::string join_target(std::string_view upstream_path, std::string_view target);

}  // namespace stet::http
