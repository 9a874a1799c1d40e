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
  if (method == "POST" || method == "PATCH") return key.value_or(KeyMode::optional);
  if (!match) return KeyMode::off;
  return key.value_or(KeyMode::off);
}

milliseconds Config::drain_time() const {
  if (drain) return *drain;
  milliseconds longest = defaults.policy.response_timeout;
  for (const Route& route : routes) longest = std::max(longest, route.policy.response_timeout);
  return longest + std::chrono::seconds(5);
}

}  // namespace stet::config
