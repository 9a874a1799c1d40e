#include "identify/credentials.hpp"

#include <algorithm>
#include <array>

#include "identify/jwt.hpp"
#include "identify/key_field.hpp"
#include "identify/media_type.hpp"
#include "identify/netstring.hpp"

namespace stet::identify {
namespace {

constexpr std::array<std::string_view, 3> kCredentials{"authorization", "x-api-key", "api-key"};

bool is_credential(std::string_view name) {
  return std::any_of(kCredentials.begin(), kCredentials.end(),
                     [name](std::string_view known) { return http::iequals(name, known); });
}

bool contains_any(std::string_view name, std::initializer_list<std::string_view> words) {
  std::string low = lower(name);
  std::replace(low.begin(), low.end(), '_', '-');
  return std::any_of(words.begin(), words.end(),
                     [&low](std::string_view word) { return low.find(word) != std::string::npos; });
}

struct Cookie {
  std::string_view name;
  std::string_view value;
};

std::vector<Cookie> cookies_of(const http::Fields& fields) {
  std::vector<Cookie> cookies;
  for (const auto line : fields.all("Cookie")) {
    for (std::size_t at = 0; at <= line.size();) {
      const auto end = std::min(line.find(';', at), line.size());
      const std::string_view pair = trim(line.substr(at, end - at));
      at = end + 1;
      const auto equals = pair.find('=');
      if (equals == std::string_view::npos) continue;
      cookies.push_back({trim(pair.substr(0, equals)), trim(pair.substr(equals + 1))});
    }
  }
  return cookies;
}

std::string about_cookies(const http::Fields& fields) {
  std::string likely = "session_id";
  for (const Cookie& cookie : cookies_of(fields)) {
    if (!contains_any(cookie.name, {"sess", "sid", "auth", "token", "jwt"})) continue;
    likely = cookie.name;
    break;
  }
  return "The request carries cookies, and the gateway cannot know whether one of them says who is calling. "
         "Configure "
         "the one that does, for example scope = [\"cookie:" +
         likely + "\"], or scope = [\"credentials\"] if the cookies do not matter";
}

std::string about_jwt(std::string_view name) {
  return "The credential in " + std::string(name) +
         " looks like a JSON Web Token, which clients renew: a retry with a new token would count as another "
         "caller. "
         "Configure the claim that stays, for example scope = [\"jwt:sub\"] with [jwt], or scope = "
         "[\"credentials\"] "
         "if a retry always carries the same token";
}

std::string about_header(std::string_view name) {
  return "The request has no Authorization, X-Api-Key or Api-Key, but " + std::string(name) +
         ", which may say who is calling. If it does, configure scope = [\"header:" + std::string(name) +
         "\"]; if it does not, scope = [\"none\"] or another part that does";
}

std::string about_certificate(std::string_view name) {
  return "The request speaks of a client certificate in " + std::string(name) +
         ". If the ingress sets that header and lets no client set it, configure scope = [\"header:" +
         std::string(name) + "\"]; otherwise the part that does say who is calling";
}

// The last word: the scheme before it, if there is one, does not matter.
std::string_view token_of(std::string_view value) {
  value = trim(value);
  const auto space = value.find_last_of(" \t");
  return space == std::string_view::npos ? value : value.substr(space + 1);
}

}  // namespace

Expected<std::string, std::string> credentials_of(const http::Fields& fields) {
  std::string all;
  for (const auto name : kCredentials) {
    const auto lines = fields.all(name);
    if (lines.empty()) continue;
    if (lines.size() > 1)
      return unexpected("The header " + std::string(name) + " stands in more than one line");
    const auto value = trim(lines.front());
    if (value.empty()) return unexpected("The header " + std::string(name) + " is empty");
    append_netstring(all, name);
    append_netstring(all, value);
  }
  return all;
}

std::optional<std::string> doubt_about_default(const http::Fields& fields,
                                               const std::vector<std::string>& key_headers) {
  if (fields.count("Cookie") != 0) return about_cookies(fields);
  bool has_credentials = false;
  for (const auto& [name, value] : fields.lines()) {
    if (contains_any(name, {"client-cert", "clientcert", "ssl-client"})) return about_certificate(name);
    if (!is_credential(name)) continue;
    has_credentials = true;
    if (looks_like_jwt(token_of(value))) return about_jwt(name);
  }
  if (has_credentials) return std::nullopt;
  for (const auto& [name, value] : fields.lines()) {
    const bool is_key = std::any_of(key_headers.begin(), key_headers.end(),
                                    [&name](const std::string& key) { return http::iequals(key, name); });
    if (!is_key && contains_any(name, {"token", "secret", "session", "auth", "apikey", "api-key"})) {
      return about_header(name);
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> cookie_values(const http::Fields& fields, std::string_view name) {
  std::vector<std::string_view> values;
  for (const Cookie& cookie : cookies_of(fields)) {
    if (cookie.name == name) values.push_back(cookie.value);
  }
  return values;
}

}  // namespace stet::identify
