#include "identify/json_text_unit.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace stet::identify {
namespace {

std::optional<std::uint32_t> four_hex_digits(const char*& at, const char* end) {
  if (end - at < 4) return std::nullopt;
  std::uint32_t value = 0;
  for (const char* const stop = at + 4; at != stop; ++at) {
    const char c = *at;
    int digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else {
      return std::nullopt;
    }
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

bool append_code_unit(std::string& out, const char*& at, const char* end) {
  const auto unit = four_hex_digits(at, end);
  if (!unit) return false;
  if (*unit < 0xd800 || *unit > 0xdfff) {
    append_utf8(out, *unit);
    return true;
  }
  if (*unit >= 0xdc00 || end - at < 2 || at[0] != '\\' || at[1] != 'u') return false;
  at += 2;
  const auto low = four_hex_digits(at, end);
  if (!low || *low < 0xdc00 || *low > 0xdfff) return false;
  append_utf8(out, 0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00));
  return true;
}

}  // namespace

bool append_unescaped(std::string& out, const char*& at, const char* end) {
  ++at;
  if (at == end) return false;
  const char c = *at++;
  switch (c) {
    case '"':
    case '\\':
    case '/':
      out.push_back(c);
      return true;
    case 'b':
      out.push_back('\b');
      return true;
    case 'f':
      out.push_back('\f');
      return true;
    case 'n':
      out.push_back('\n');
      return true;
    case 'r':
      out.push_back('\r');
      return true;
    case 't':
      out.push_back('\t');
      return true;
    case 'u':
      return append_code_unit(out, at, end);
    default:
      return false;
  }
}

bool skip_utf8(const char*& at, const char* end) {
  const auto byte = [at](std::ptrdiff_t i) { return static_cast<unsigned char>(at[i]); };
  const unsigned char first = byte(0);
  std::ptrdiff_t size = 0;
  unsigned char least = 0x80;  // of the second byte
  unsigned char most = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    size = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    size = 3;
    if (first == 0xe0) least = 0xa0;
    if (first == 0xed) most = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    size = 4;
    if (first == 0xf0) least = 0x90;
    if (first == 0xf4) most = 0x8f;
  } else {
    return false;
  }
  if (end - at < size || byte(1) < least || byte(1) > most) return false;
  for (std::ptrdiff_t i = 2; i < size; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return false;
  }
  at += size;
  return true;
}

}  // namespace stet::identify
