#pragma once
// "5:hello": pieces after one another that cannot run into each other.

#include <charconv>
#include <string>
#include <string_view>

namespace stet::identify {

inline void append_netstring(std::string& out, std::string_view piece) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits - 1, piece.size()).ptr;
  *end = ':';
  out.append(digits, end + 1);
  out.append(piece);
}

}  // namespace stet::identify
