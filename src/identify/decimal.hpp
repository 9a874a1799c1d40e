#pragma once
// Numbers of JSON by their exact decimal value, never through a double: 9007199254740992 and …993 are two
// amounts.

#include <optional>
#include <string>
#include <string_view>

namespace stet::identify {

// Appends the one spelling of a number (RFC 8259 section 6): "0", or [-]digits"e"exponent where the digits
// neither begin nor end with 0. So 1, 1.0, 10e-1 are "1e0"; 1500 is "15e2"; -0 is "0". `text` has been
// checked by a parser. false, and nothing appended: the exponent is absurd (more than nine digits).
[[nodiscard]] bool append_decimal(std::string& out, std::string_view text);

// The digits of a whole number: 1.50e3 → "1500", -0 → "0". nothing: it has a fraction, an absurd exponent, or
// more than `max_digits` digits.
std::optional<std::string> whole_number(std::string_view text, std::size_t max_digits);

}  // namespace stet::identify
