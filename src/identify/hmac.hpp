#pragma once
// HMAC-SHA-256 (RFC 2104) over parts that cannot run into each other.

#include <initializer_list>
#include <string_view>

#include "stet/identity.hpp"

namespace stet::identify {

Digest hmac_sha256(std::string_view secret,
                   std::initializer_list<std::string_view> parts);       // lengths before each
Digest hmac_sha256_of(std::string_view secret, std::string_view bytes);  // bytes as they are

}  // namespace stet::identify
