#include "gateway/cors.hpp"

#include <algorithm>

namespace stet::gateway {
namespace {

constexpr std::string_view kAllowOrigin = "Access-Control-Allow-Origin";
constexpr std::string_view kAllowHeaders = "Access-Control-Allow-Headers";
constexpr std::string_view kAllowMethods = "Access-Control-Allow-Methods";
constexpr std::string_view kExposeHeaders = "Access-Control-Expose-Headers";
constexpr std::string_view kExposed =
    "Idempotent-Replayed, Retry-After, Location, Stet-Outcome, Stet-Operation, Stet-Replayable-Until";

Header* find(Headers& lines, std::string_view name) {
  const auto found =
      std::find_if(lines.begin(), lines.end(), [name](const Header& line) { return http::iequals(line.name, name); });
  return found == lines.end() ? nullptr : &*found;
}

void erase(Headers& lines, std::string_view name) {
  std::erase_if(lines, [name](const Header& line) { return http::iequals(line.name, name); });
}

// A list that is "*" already names everything (but for requests with credentials, which the upstream then knows).
void append_to(Headers& lines, std::string_view name, std::string_view more) {
  if (Header* line = find(lines, name); line == nullptr) {
    lines.push_back({std::string(name), std::string(more)});
  } else if (line->value != "*") {
    line->value.append(line->value.empty() ? "" : ", ").append(more);
  }
}

bool ours(const config::Config& config, std::string_view origin) {
  return std::any_of(config.cors_origins.begin(), config.cors_origins.end(),
                     [origin](const std::string& allowed) { return allowed == "*" || allowed == origin; });
}

bool any_origin(const config::Config& config) {
  return std::find(config.cors_origins.begin(), config.cors_origins.end(), "*") != config.cors_origins.end();
}

void allow_origin(Headers& lines, const config::Config& config, std::string_view origin) {
  erase(lines, kAllowOrigin);
  lines.push_back({std::string(kAllowOrigin), any_origin(config) ? "*" : std::string(origin)});
  append_to(lines, "Vary", "Origin");
}

bool is_preflight(const http::RequestHead& head) { return preflight_method(head).has_value(); }

std::string key_headers(const config::Route& route) {
  std::string names;
  for (const std::string& name : route.key_headers) names.append(names.empty() ? "" : ", ").append(name);
  return names;
}

}  // namespace

std::optional<std::string_view> preflight_method(const http::RequestHead& head) {
  if (head.method != "OPTIONS" || !head.fields.first("Origin")) return std::nullopt;
  return head.fields.first("Access-Control-Request-Method");
}

std::optional<Response> own_preflight(const config::Config& config, const http::RequestHead& head,
                                      const config::Route& route) {
  const auto origin = head.fields.first("Origin");
  if (!is_preflight(head) || !ours(config, *origin)) return std::nullopt;
  Response response;
  response.status = 204;
  extend_cors(response.fields, config, head, route);
  return response;
}

void add_cors(Response& response, const config::Config& config, const http::RequestHead& head) {
  const auto origin = head.fields.first("Origin");
  if (!origin) return;
  Headers& lines = response.fields;
  if (config.cors_origins.empty()) {
    if (find(lines, kAllowOrigin) != nullptr) append_to(lines, kExposeHeaders, kExposed);
    return;
  }
  if (!ours(config, *origin)) {
    erase(lines, kAllowOrigin);
    append_to(lines, "Vary", "Origin");
    return;
  }
  allow_origin(lines, config, *origin);
  append_to(lines, kExposeHeaders, kExposed);
}

void extend_cors(Headers& lines, const config::Config& config, const http::RequestHead& head,
                 const config::Route& route) {
  const auto origin = head.fields.first("Origin");
  if (!origin) return;
  const bool allowed_here = !config.cors_origins.empty() && ours(config, *origin);
  if (find(lines, kAllowOrigin) == nullptr && !(is_preflight(head) && allowed_here)) return;
  if (!is_preflight(head)) {
    append_to(lines, kExposeHeaders, kExposed);
    return;
  }
  if (!allowed_here) return;
  const auto asked_for = head.fields.first("Access-Control-Request-Headers");
  if (find(lines, kAllowOrigin) == nullptr) {
    // The upstream leaves its part of the preflight to the gateway.
    allow_origin(lines, config, *origin);
    if (find(lines, kAllowMethods) == nullptr) {
      lines.push_back(
          {std::string(kAllowMethods), std::string(*head.fields.first("Access-Control-Request-Method"))});
    }
    if (asked_for && find(lines, kAllowHeaders) == nullptr) {
      lines.push_back({std::string(kAllowHeaders), std::string(*asked_for)});
    }
  }
  append_to(lines, kAllowHeaders, key_headers(route));
}

}  // namespace stet::gateway
