#pragma once
// JSON Web Signatures (RFC 7518 section 3) by the key that is configured.

#include <string_view>

#include "config/config.hpp"

namespace stet::identify {

enum class SignatureCheck : std::uint8_t { good, bad, other_algorithm, unusable_key };

// `algorithm` is what the token claims: it has to be the one that the configured key is for, and never
// selects it. The parsed public key is kept for each thread.
SignatureCheck check_signature(const config::Jwt&, std::string_view algorithm, std::string_view text,
                               std::string_view signature);

}  // namespace stet::identify
