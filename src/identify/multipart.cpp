#include "identify/multipart.hpp"

#include <optional>

#include "identify/key_field.hpp"
#include "identify/media_type.hpp"
#include "identify/netstring.hpp"

namespace stet::identify {
namespace {

constexpr std::string_view kCrlf = "\r\n";

// RFC 2046 section 5.1.1, bchars.
bool is_boundary(std::string_view text) {
  if (text.empty() || text.size() > 70 || text.back() == ' ') return false;
  for (const char c : text) {
    const bool letter_or_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter_or_digit && std::string_view("'()+_,-./:=? ").find(c) == std::string_view::npos) return false;
  }
  return true;
}

bool is_token(std::string_view text) {
  for (const char c : text) {
    const bool letter_or_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter_or_digit && std::string_view("!#$%&'*+-.^_`|~").find(c) == std::string_view::npos)
      return false;
  }
  return !text.empty();
}

bool append_line(std::string& out, std::string_view line) {
  if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) return false;
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return false;
  out.push_back('h');
  append_netstring(out, lower(line.substr(0, colon)));
  append_netstring(out, trim(line.substr(colon + 1)));
  return true;
}

// One part, from after its delimiter's CRLF to before the next delimiter's.
bool append_part(std::string& out, std::string_view part) {
  for (;;) {
    const auto end = part.find(kCrlf);
    if (end == std::string_view::npos) return false;
    const std::string_view line = part.substr(0, end);
    part.remove_prefix(end + kCrlf.size());
    if (line.empty()) break;
    if (!append_line(out, line)) return false;
  }
  out.push_back('b');
  append_netstring(out, part);
  return true;
}

bool append_parts(std::string& out, std::string_view body, std::string_view delimiter) {
  // `delimiter` has the CRLF that belongs to it; the first one stands at the beginning and has none.
  const std::string_view first = delimiter.substr(kCrlf.size());
  if (!body.starts_with(first)) return false;
  body.remove_prefix(first.size());
  for (;;) {
    if (body.starts_with("--")) {
      const std::string_view epilogue = body.substr(2);
      return epilogue.empty() || epilogue == kCrlf;
    }
    if (!body.starts_with(kCrlf)) return false;
    const auto end = body.find(delimiter, kCrlf.size());
    if (end == std::string_view::npos) return false;
    if (!append_part(out, body.substr(kCrlf.size(), end - kCrlf.size()))) return false;
    body.remove_prefix(end + delimiter.size());
  }
}

}  // namespace

bool append_canonical_multipart(std::string& out, std::string_view body, std::string_view boundary) {
  if (!is_boundary(boundary)) return false;
  const std::size_t before = out.size();
  if (append_parts(out, body, "\r\n--" + std::string(boundary))) return true;
  out.resize(before);
  return false;
}

}  // namespace stet::identify
