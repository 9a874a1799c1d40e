#include <cstdint>

#include "http/problem.hpp"

namespace stet::http {

namespace {

// The size of the well-formed UTF-8 sequence at the start of `text` (Unicode table 3-7), or 0.
std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0U;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (first == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
    if (first == 0xed && byte(1) > 0x9f) return 0;  // a surrogate
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (first == 0xf0 && byte(1) < 0x90) return 0;  // overlong
    if (first == 0xf4 && byte(1) > 0x8f) return 0;  // above U+10FFFF
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

void append_escape(std::string& out, char c) {
  constexpr char digits[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(c);
  out.append("\\u00");
  out += digits[value >> 4];
  out += digits[value & 0xf];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    const std::size_t size = utf8_sequence(text.substr(i));
    if (size == 0) {
      out.append("\\ufffd");
      ++i;
      continue;
    }
    switch (c) {
      case '"':
        out.append("\\\"");
        break;
      case '\\':
        out.append("\\\\");
        break;
      case '\n':
        out.append("\\n");
        break;
      case '\r':
        out.append("\\r");
        break;
      case '\t':
        out.append("\\t");
        break;
      case '<':
      case '>':
      case '&':
      case '\x7f':
        append_escape(out, c);
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          append_escape(out, c);
        } else {
          out.append(text.substr(i, size));
        }
    }
    i += size;
  }
  out += '"';
}

}  // namespace stet::http
