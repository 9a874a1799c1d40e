#pragma once
// A request and an answer as your handlers see them, whatever HTTP library brought them.

#include <optional>
#include <string>
#include <string_view>

#include "stet/record.hpp"

namespace stet::http {

struct Request {
  std::string method{};
  std::string target{};  // path with query, as it came
  Headers headers{};
  std::string body{};  // the whole of it, de-chunked
};

struct Response {
  int status = 200;
  Headers headers{};
  std::string body{};
};

// The value of the only line of that name (ASCII case ignored); nothing when there is none or more than one.
std::optional<std::string_view> header(const Request&, std::string_view name);

// For adapters. Whether a line of the answer goes out: not one that would end early (at a CR, LF or NUL), and
// not Content-Length or Transfer-Encoding, which whoever sends the body writes beside it.
bool is_sent(const Header&);
// Whether an answer of this status has a body: not with 1xx, 204 or 304.
bool has_body(int status);

}  // namespace stet::http
