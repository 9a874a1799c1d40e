#pragma once
// RFC 4648 section 5, without padding, as JSON Web Signatures write it.

#include <optional>
#include <string>
#include <string_view>

namespace stet::identify {

// nothing: another character, padding, or left-over bits that are not zero.
std::optional<std::string> decode_base64url(std::string_view);

}  // namespace stet::identify
