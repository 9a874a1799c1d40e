#pragma once
// Character classes of HTTP/1.1 and of targets, one table look-up each. Internal to stet_http.

#include <array>
#include <cstdint>
#include <string_view>

namespace stet::http::chars {

enum Class : std::uint16_t {
  kToken = 1 << 0,    // tchar (RFC 9110 section 5.6.2)
  kValue = 1 << 1,    // VCHAR, obs-text, SP, HTAB (section 5.5)
  kMethod = 1 << 2,   // tchar without lower-case letters
  kVisible = 1 << 3,  // VCHAR: 0x21 to 0x7e
  kPath = 1 << 4,     // what browsers leave unescaped in a path (WHATWG URL, path percent-encode set)
  kQuery = 1 << 5,    // and in a query
  kHost = 1 << 6,     // unreserved (RFC 3986): a name or an IPv4 address
  kHex = 1 << 7,
  kDigit = 1 << 8,
  kName = 1 << 9,  // tchar without '_': a field name of a request
};

constexpr std::array<std::uint16_t, 256> make_table() {
  constexpr std::string_view other_tchar = "!#$%&'*+-.^_`|~";
  constexpr std::string_view not_in_path = "\"#<>?\\`{}";
  constexpr std::string_view not_in_query = "\"#<>";
  constexpr std::string_view other_unreserved = "-._~";
  std::array<std::uint16_t, 256> table{};
  for (unsigned i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    const bool lower = c >= 'a' && c <= 'z';
    const bool upper = c >= 'A' && c <= 'Z';
    const bool digit = c >= '0' && c <= '9';
    const bool hex = digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    const bool visible = i >= 0x21 && i <= 0x7e;
    const bool tchar = lower || upper || digit || (visible && other_tchar.find(c) != std::string_view::npos);
    unsigned bits = 0;
    if (tchar) bits |= kToken;
    if (tchar && !lower) bits |= kMethod;
    if (tchar && c != '_') bits |= kName;
    if (visible || i >= 0x80 || c == ' ' || c == '\t') bits |= kValue;
    if (visible) bits |= kVisible;
    if (visible && not_in_path.find(c) == std::string_view::npos) bits |= kPath;
    if (visible && not_in_query.find(c) == std::string_view::npos) bits |= kQuery;
    if (lower || upper || digit || other_unreserved.find(c) != std::string_view::npos) bits |= kHost;
    if (hex) bits |= kHex;
    if (digit) bits |= kDigit;
    table[i] = static_cast<std::uint16_t>(bits);
  }
  return table;
}

inline constexpr std::array<std::uint16_t, 256> kTable = make_table();

constexpr bool is(char c, Class wanted) {
  return (kTable[static_cast<unsigned char>(c)] & wanted) != 0;
}

constexpr bool all(std::string_view text, Class wanted) {
  for (const char c : text) {
    if (!is(c, wanted)) return false;
  }
  return true;
}

// How many bytes from `from` on are of the class.
constexpr std::size_t run(std::string_view text, std::size_t from, Class wanted) {
  std::size_t i = from;
  while (i < text.size() && is(text[i], wanted)) ++i;
  return i - from;
}

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

// The value of a hex digit; only after is(c, kHex).
constexpr unsigned hex_value(char c) {
  return c <= '9' ? static_cast<unsigned>(c - '0') : static_cast<unsigned>((c | 0x20) - 'a' + 10);
}

}  // namespace stet::http::chars
