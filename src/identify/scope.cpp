// In whose name a key counts (http.md, "The scope").

#include "core/digest.hpp"
#include "identify/credentials.hpp"
#include "identify/identify.hpp"
#include "identify/jwt.hpp"
#include "identify/key_field.hpp"
#include "identify/netstring.hpp"
#include "identify/scope_rule.hpp"

namespace stet::identify {
namespace {

using config::ScopePart;
using Kind = ScopePart::Kind;
using Value = Expected<std::string, Refusal>;

constexpr std::string_view kWhere = ", in the route or in [defaults].";

tl::unexpected<Refusal> refuse(std::string detail) {
  return unexpected(Refusal{Problem::scope_undefined, std::move(detail)});
}

// The one value of a named part.
Value only(const std::vector<std::string_view>& values, const std::string& what) {
  const std::string needs = "This route's scope needs " + what + ", once and not empty; it is ";
  if (values.empty()) return refuse(needs + "not there.");
  if (values.size() > 1) return refuse(needs + "there more than once.");
  const auto value = trim(values.front());
  if (value.empty()) return refuse(needs + "empty.");
  return std::string(value);
}

Value bearer_token(const http::Fields& fields) {
  constexpr std::string_view scheme = "Bearer";
  auto value = only(fields.all("Authorization"), "a bearer token in the header Authorization");
  if (!value) return value;
  const std::string_view text = *value;
  const auto space = std::min(text.find(' '), text.size());
  if (!http::iequals(text.substr(0, space), scheme)) {
    return refuse("This route's scope needs a bearer token: Authorization: Bearer <token>.");
  }
  const auto token = trim(text.substr(space));
  if (token.empty())
    return refuse("This route's scope needs a bearer token; the one in Authorization is empty.");
  return std::string(token);
}

Value claim(const config::Config& config, const std::string& name, const http::Fields& fields, WallTime now) {
  if (!config.jwt) {
    return refuse("The scope is \"jwt:" + name +
                  "\", and there is no key to verify a token with. Configure "
                  "jwt.secret or jwt.public_key.");
  }
  auto token = bearer_token(fields);
  if (!token) return token;
  auto value = verified_claim(*config.jwt, *token, name, now);
  if (value) return std::move(*value);
  const bool bad = value.error().kind == TokenFault::Kind::invalid;
  return unexpected(
      Refusal{bad ? Problem::credentials_invalid : Problem::scope_undefined, value.error().why});
}

Value principal_of(std::optional<std::string_view> principal) {
  if (!principal)
    return unexpected(Refusal{Problem::auth_unavailable, "The authentication service has not answered."});
  const auto value = trim(*principal);
  if (value.empty()) {
    return refuse(
        "The authentication service at auth.url let the request pass but did not say in X-Principal who is "
        "calling; its 2xx answers have to.");
  }
  return std::string(value);
}

Value stated_credentials(const http::Fields& fields) {
  auto all = credentials_of(fields);
  if (!all) return refuse(all.error() + "; this route's scope needs every credential once and not empty.");
  if (all->empty()) {
    return refuse(
        "This route's scope is the caller's credentials, and the request has none. Send Authorization, "
        "X-Api-Key or Api-Key.");
  }
  return std::move(*all);
}

Value value_of(const ScopePart& part, const config::Config& config, const http::Fields& fields, WallTime now,
               std::optional<std::string_view> principal) {
  switch (part.kind) {
    case Kind::credentials:
      return stated_credentials(fields);
    case Kind::header:
      return only(fields.all(part.name), "the header " + part.name);
    case Kind::cookie:
      return only(cookie_values(fields, part.name), "the cookie " + part.name);
    case Kind::jwt:
      return claim(config, part.name, fields, now);
    case Kind::auth:
      return principal_of(principal);
    case Kind::client_cert:
      return refuse(
          "The scope is \"client-cert\", and this listener does not ask for client certificates. Let the "
          "ingress verify them and configure the header it sets, for example scope = "
          "[\"header:X-Client-Cert-Fingerprint\"]" +
          std::string(kWhere));
    case Kind::none:
      return std::string();
  }
  return refuse("This build does not know that part of a scope.");
}

std::string scope_value(const std::string& parts) {
  return to_hex(sha256_parts({"stet scope 1", parts}));
}

void append_part(std::string& out, const ScopePart& part, std::string_view value) {
  append_netstring(out, rule_text(part));
  append_netstring(out, value);
}

Expected<Scope, Refusal> stated(const std::vector<ScopePart>& parts, const config::Config& config,
                                const http::Fields& fields, WallTime now,
                                std::optional<std::string_view> principal) {
  std::string all;
  for (const ScopePart& part : parts) {
    auto value = value_of(part, config, fields, now, principal);
    if (!value) return unexpected(std::move(value.error()));
    append_part(all, part, *value);
  }
  return Scope{scope_value(all), rule_text(parts)};
}

// The same value as that of scope = ["credentials"], so that writing down what was the default changes
// nothing.
Expected<Scope, Refusal> careful_default(const http::Fields& fields,
                                         const std::vector<std::string>& key_headers) {
  if (auto doubt = doubt_about_default(fields, key_headers)) return refuse(*doubt + std::string(kWhere));
  auto credentials = credentials_of(fields);
  if (!credentials) {
    return refuse(credentials.error() +
                  ", so it does not say who is calling. Send it once, or configure what does, "
                  "for example scope = [\"header:X-Account\"]" +
                  std::string(kWhere));
  }
  std::string all;
  append_part(all, ScopePart{Kind::credentials, {}}, *credentials);
  Scope scope{scope_value(all), std::string(kDefaultRule)};
  scope.shared = credentials->empty();
  return scope;
}

Expected<Scope, Refusal> by_parts(const std::vector<ScopePart>& parts, const config::Config& config,
                                  const std::vector<std::string>& key_headers, const http::Fields& fields,
                                  WallTime now, std::optional<std::string_view> principal) {
  return parts.empty() ? careful_default(fields, key_headers) : stated(parts, config, fields, now, principal);
}

bool asks_for_principal(const std::vector<ScopePart>& parts) {
  for (const ScopePart& part : parts) {
    if (part.kind == Kind::auth) return true;
  }
  return false;
}

}  // namespace

bool needs_principal(const config::Route& route) {
  return asks_for_principal(route.scope);
}

bool rule_needs_principal(std::string_view rule) {
  const auto parts = parse_rule(rule);
  return parts && asks_for_principal(*parts);
}

Expected<Scope, Refusal> find_scope(const config::Config& config, const config::Route& route,
                                    const http::RequestHead& head, WallTime now,
                                    std::optional<std::string_view> principal) {
  if (route.scope.empty() && route.key_from.kind != config::KeySource::Kind::header) {
    return refuse(
        "This route takes its keys from the request itself (key_from), which anybody can guess, so it needs "
        "an explicit scope, for example scope = [\"credentials\"]" +
        std::string(kWhere));
  }
  return by_parts(settled(route.scope), config, route.key_headers, head.fields, now, principal);
}

Expected<Scope, Refusal> find_scope_by_rule(const config::Config& config, std::string_view rule,
                                            const http::RequestHead& head, WallTime now,
                                            std::optional<std::string_view> principal) {
  const auto parts = parse_rule(rule);
  if (!parts) return refuse("The operation was recorded under a scope rule that this version does not know.");
  return by_parts(*parts, config, config.defaults.key_headers, head.fields, now, principal);
}

}  // namespace stet::identify
