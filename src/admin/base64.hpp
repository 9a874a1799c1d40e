#pragma once
// RFC 4648 section 4, with padding.

#include <optional>
#include <string>
#include <string_view>

namespace stet::admin {

std::string to_base64(std::string_view bytes);
std::optional<std::string> from_base64(
    std::string_view text);  // strict: no line breaks, whole groups of four

}  // namespace stet::admin
