#include "identify/jwt.hpp"

#include <charconv>
#include <cmath>
#include <vector>

#include "identify/base64url.hpp"
#include "identify/decimal.hpp"
#include "identify/json_document.hpp"
#include "identify/signature.hpp"

namespace stet::identify {
namespace {

using Kind = TokenFault::Kind;

// A token may be used in the second it was made on a machine whose clock runs ahead. An expiry gets no such
// grace: a replay never reaches the upstream, which would have refused it.
constexpr double kNotBeforeGrace = 5;

tl::unexpected<TokenFault> invalid(std::string why) {
  return unexpected(TokenFault{Kind::invalid, std::move(why)});
}

std::vector<std::string_view> split_at_dots(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('.', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool parse_object(JsonDocument& document, std::string_view text) {
  return document.parse(text) && document.root().kind == JsonKind::object;
}

// RFC 7519 section 2, NumericDate: seconds, maybe with a fraction.
std::optional<double> numeric_date(const JsonNode& node) {
  if (node.kind != JsonKind::number) return std::nullopt;
  double value = 0;
  const auto end = node.text.data() + node.text.size();
  const auto [used, error] = std::from_chars(node.text.data(), end, value);
  if (error != std::errc() || used != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool names(const JsonDocument& claims, const JsonNode& audience, const std::string& wanted) {
  if (audience.kind == JsonKind::string) return audience.text == wanted;
  if (audience.kind != JsonKind::array) return false;
  for (const auto child : claims.children(audience)) {
    const JsonNode& one = claims.node(child);
    if (one.kind == JsonKind::string && one.text == wanted) return true;
  }
  return false;
}

// What is wrong with the registered claims; empty: nothing.
std::string check_claims(const config::Jwt& jwt, const JsonDocument& claims, WallTime now) {
  const double seconds = static_cast<double>(now.time_since_epoch().count()) / 1000;
  const JsonNode& root = claims.root();
  if (const auto* exp = claims.member(root, "exp"); exp != nullptr) {
    const auto date = numeric_date(*exp);
    if (!date) return "Its exp is not a number.";
    if (seconds >= *date) return "It has expired (exp).";
  }
  if (const auto* nbf = claims.member(root, "nbf"); nbf != nullptr) {
    const auto date = numeric_date(*nbf);
    if (!date) return "Its nbf is not a number.";
    if (seconds + kNotBeforeGrace < *date) return "It is not valid yet (nbf).";
  }
  if (jwt.issuer) {
    const auto* iss = claims.member(root, "iss");
    if (iss == nullptr || iss->kind != JsonKind::string || iss->text != *jwt.issuer) {
      return "Its issuer (iss) is not the one that this gateway accepts.";
    }
  }
  if (jwt.audience) {
    const auto* aud = claims.member(root, "aud");
    if (aud == nullptr || !names(claims, *aud, *jwt.audience)) return "It is not meant for this API (aud).";
  }
  return {};
}

Expected<std::string, TokenFault> claim_text(const JsonDocument& claims, std::string_view name) {
  const auto none = [&name](std::string_view what) {
    return unexpected(TokenFault{Kind::no_claim, "The bearer token's claim \"" + std::string(name) + "\" " +
                                                     std::string(what) +
                                                     "; it has to be a string or an integer."});
  };
  const JsonNode* const claim = claims.member(claims.root(), name);
  if (claim == nullptr) return none("is not there");
  if (claim->kind == JsonKind::string) {
    if (claim->text.empty()) return none("is empty");
    return "s" + std::string(claim->text);
  }
  if (claim->kind == JsonKind::number) {
    if (auto digits = whole_number(claim->text, 64)) return "n" + *digits;
  }
  return none("is something else");
}

}  // namespace

Expected<std::string, TokenFault> verified_claim(const config::Jwt& jwt, std::string_view token,
                                                 std::string_view claim, WallTime now) {
  const auto parts = split_at_dots(token);
  if (parts.size() != 3) return invalid("The bearer token is not a signed JSON Web Token.");
  const auto header_text = decode_base64url(parts[0]);
  const auto claims_text = decode_base64url(parts[1]);
  const auto signature = decode_base64url(parts[2]);
  JsonDocument header;
  if (!header_text || !claims_text || !signature || !parse_object(header, *header_text)) {
    return invalid("The bearer token is not a well-formed JSON Web Token.");
  }
  // RFC 7515 section 4.1.11: what is marked critical has to be understood, and we understand none of it.
  if (header.member(header.root(), "crit") != nullptr) {
    return invalid("The bearer token has critical header parameters that this gateway does not know.");
  }
  const JsonNode* const algorithm = header.member(header.root(), "alg");
  if (algorithm == nullptr || algorithm->kind != JsonKind::string) {
    return invalid("The bearer token does not name its algorithm (alg).");
  }
  const auto signed_text = token.substr(0, parts[0].size() + 1 + parts[1].size());
  switch (check_signature(jwt, algorithm->text, signed_text, *signature)) {
    case SignatureCheck::good:
      break;
    case SignatureCheck::bad:
      return invalid("The bearer token's signature does not verify.");
    case SignatureCheck::other_algorithm:
      return invalid("The bearer token is signed with another algorithm than this gateway has a key for.");
    case SignatureCheck::unusable_key:
      return invalid(
          "The gateway's key cannot verify any token: jwt.public_key has to be an RSA key of 2048 bits or "
          "more, or an EC key on P-256, in PEM (BEGIN PUBLIC KEY).");
  }
  // Only now is anything in it worth reading.
  JsonDocument claims;
  if (!parse_object(claims, *claims_text))
    return invalid("The bearer token's claims are not one JSON object.");
  if (auto wrong = check_claims(jwt, claims, now); !wrong.empty()) {
    return invalid("The bearer token is not accepted. " + wrong);
  }
  return claim_text(claims, claim);
}

bool looks_like_jwt(std::string_view token) {
  const auto parts = split_at_dots(token);
  if (parts.size() != 3 && parts.size() != 5) return false;
  const auto header = decode_base64url(parts[0]);
  if (!header) return false;
  const auto start = header->find_first_not_of(" \t\r\n");
  return start != std::string::npos && (*header)[start] == '{';
}

}  // namespace stet::identify
