#include "stet/http/message.hpp"

#include "http/message.hpp"

namespace stet::http {

std::optional<std::string_view> header(const Request& request, std::string_view name) {
  std::optional<std::string_view> value;
  for (const Header& line : request.headers) {
    if (!iequals(line.name, name)) continue;
    if (value) return std::nullopt;
    value = line.value;
  }
  return value;
}

bool is_sent(const Header& line) {
  constexpr std::string_view kEnds("\r\n\0", 3);
  const bool one_line = line.name.find_first_of(kEnds) == std::string::npos &&
                        line.value.find_first_of(kEnds) == std::string::npos;
  return one_line && !iequals(line.name, "Content-Length") && !iequals(line.name, "Transfer-Encoding");
}

bool has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

}  // namespace stet::http
