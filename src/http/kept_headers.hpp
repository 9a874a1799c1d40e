#pragma once
// Which header lines of an answer belong to one caller and one moment.

#include <string_view>

namespace stet::http {

// Cookies and authentication challenges (RFC 6265; RFC 9110 sections 11.6 and 11.7; RFC 7615): a replay must not carry
// them.
bool is_of_one_moment(std::string_view name);

}  // namespace stet::http
