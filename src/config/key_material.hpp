#pragma once
// Checks of cryptographic keys at load time, so that a wrong one is a line in the configuration and not a
// failed request later.

#include <string>
#include <string_view>

#include "stet/error.hpp"

namespace stet::config {

// 64 hex digits or base64 (with or without padding) of 32 bytes → the bytes.
Expected<std::string, std::string> decode_encryption_key(std::string_view text);

// Empty for a PEM public key that RS256 or ES256 can use; else what is wrong with it.
std::string public_key_error(const std::string& pem);

}  // namespace stet::config
