#include "config/config.hpp"

#include <algorithm>

namespace stet::config {
namespace {

// RFC 9110 section 9.2.1: nothing to protect.
bool is_safe(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
}

}  // namespace

KeyMode Route::key_mode(std::string_view method) const {
  if (is_safe(method)) return KeyMode::off;
  // A route that says where in the request its keys are says that it wants them (http.md, "Natural keys").
  if (match && !key && key_from.kind != KeySource::Kind::header) return KeyMode::required;
  if (method == "POST" || method == "PATCH") return key.value_or(KeyMode::optional);
  // http.md: PUT and DELETE are passed through unless a route names them. A route matches only what it names.
  if (!match) return KeyMode::off;
  return key.value_or(KeyMode::optional);
}

milliseconds Config::drain_time() const {
  if (drain) return *drain;
  milliseconds longest = defaults.policy.response_timeout;
  for (const Route& route : routes) longest = std::max(longest, route.policy.response_timeout);
  return longest + std::chrono::seconds(5);
}

}  // namespace stet::config
