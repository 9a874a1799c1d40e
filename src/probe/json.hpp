#pragma once
// What the probe needs of JSON. Texts are respelt and changed as texts, never through a parsed value: numbers
// keep every digit.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stet/error.hpp"

namespace stet::probe {

std::optional<bool> json_flag(std::string_view text, std::string_view member);  // of a top-level object
std::vector<std::string> json_scalars(
    std::string_view text);  // every string and number, as text; none if not JSON
bool is_json_text(std::string_view);

// RFC 6901: the number there, or the length of the list or object there.
Expected<std::int64_t, std::string> json_count(std::string_view text, std::string_view pointer);

// The same value with the members of every object in reverse order and other whitespace. Nothing if it is not
// JSON.
std::optional<std::string> respell(std::string_view text);

// Variants of a body that mean something else, each probably still acceptable to the API: a number one
// larger, a string longer, a member more.
std::vector<std::string> altered_json(std::string_view text);

std::string json_string(std::string_view);  // quoted and escaped; bytes that are not UTF-8 become U+FFFD

}  // namespace stet::probe
