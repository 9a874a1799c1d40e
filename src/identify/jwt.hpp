#pragma once
// JSON Web Tokens (RFC 7519) in the one form that can name a scope: signed (RFC 7515) with the algorithm that
// the configured key is for, and valid now.

#include <string>
#include <string_view>

#include "config/config.hpp"
#include "stet/error.hpp"
#include "stet/record.hpp"

namespace stet::identify {

// A token that does not hold: 401 credentials-invalid. Or a good token without a usable claim:
// scope-undefined.
struct TokenFault {
  enum class Kind : std::uint8_t { invalid, no_claim };
  Kind kind = Kind::invalid;
  std::string why;  // a sentence for the client's developer; nothing of the token's content
};

// The claim (a string that is not empty, or an integer) of a token whose signature, crit, exp, nbf and, where
// they are configured, iss and aud have been verified. HS256 with a secret; RS256 (2048 bits and more) or
// ES256 with a public key, by the key's own type: what the token says of its algorithm selects nothing.
Expected<std::string, TokenFault> verified_claim(const config::Jwt&, std::string_view token,
                                                 std::string_view claim, WallTime now);

// Three parts of a signed token or five of an encrypted one (RFC 7516), the first a JSON object in base64url.
bool looks_like_jwt(std::string_view);

}  // namespace stet::identify
