#pragma once
// Header lines as bytes, order and repeats kept: what engines store and what is sealed.
// Each name and each value is preceded by its length, 32 bits, least significant byte first.

#include <optional>
#include <string>
#include <string_view>

#include "stet/record.hpp"

namespace stet::stores {

std::string pack(const Headers& headers);
std::optional<Headers> unpack_headers(std::string_view bytes);

// The same for parts of other messages.
void append_part(std::string& to, std::string_view part);
std::optional<std::string_view> take_part(std::string_view& from);

}  // namespace stet::stores
