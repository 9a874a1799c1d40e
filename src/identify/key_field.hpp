#pragma once
// The text of an Idempotency-Key field: an sf-string (RFC 8941 section 3.3.3) or the bare form that most
// clients send.

#include <string>
#include <string_view>

#include "stet/error.hpp"

namespace stet::identify {

inline constexpr std::size_t kMaxKey = 255;

// The key in one field line, without quotes, escapes, parameters and surrounding whitespace.
// The error says what is wrong and where, for the client's developer; it never repeats the value.
Expected<std::string, std::string> parse_key_field(std::string_view line);

// Whether the bare form can say this key.
bool has_bare_form(std::string_view key);
std::string quoted_form(std::string_view key);  // of printable ASCII

// SP and HTAB (RFC 9110 section 5.6.3) taken off both ends.
std::string_view trim(std::string_view);

}  // namespace stet::identify
