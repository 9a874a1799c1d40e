#include "probe/curl_line.hpp"

#include <algorithm>
#include <array>

namespace stet::probe {
namespace {

std::string quoted(const std::string& text) {
  const bool plain = std::ranges::none_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && c != '\n' && c != '\t') || byte >= 0x7f;
  });
  if (plain) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
  }
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      out += std::string("\\") + c;
    } else if (byte < ' ' || byte >= 0x7f) {
      out += std::string("\\x") + digits[byte >> 4U] + digits[byte & 0x0fU];
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace

std::string curl_line(const Request& request) {
  std::string line = "curl -i -X " + request.method + " " + quoted(request.url.text());
  for (const Header& header : request.headers) {
    // curl sends an empty field only when it is written with a semicolon.
    line += " -H " + quoted(header.value.empty() ? header.name + ";" : header.name + ": " + header.value);
  }
  constexpr std::size_t longest = 8'000;  // beyond it the line is for reading, not for pasting
  if (request.body.size() > longest)
    return line + " --data-binary @body-of-" + std::to_string(request.body.size()) + "-bytes";
  if (!request.body.empty()) line += " --data-binary " + quoted(request.body);
  return line;
}

}  // namespace stet::probe
