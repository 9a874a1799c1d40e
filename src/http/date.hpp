#pragma once
// Times as text. UTC, no locale, any thread.

#include <string>

#include "stet/record.hpp"

namespace stet::http {

std::string http_date(WallTime);  // "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 section 5.6.7)
void append_http_date(std::string&, WallTime);
std::string rfc3339(WallTime);  // "1994-11-06T08:49:37.000Z"

}  // namespace stet::http
