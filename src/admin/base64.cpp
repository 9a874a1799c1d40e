#include "admin/base64.hpp"

#include <algorithm>
#include <cstdint>

namespace stet::admin {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < have ? static_cast<std::uint8_t>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) text.push_back(j <= have ? kDigits[group >> (18 - 6 * j) & 63] : '=');
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::string bytes;
  std::uint32_t pool = 0;
  unsigned filled = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) return std::nullopt;
    pool = (pool << 6 | static_cast<std::uint32_t>(digit)) & 0x3fff;
    filled += 6;
    if (filled >= 8) {
      filled -= 8;
      bytes.push_back(static_cast<char>(pool >> filled & 0xff));
    }
  }
  if ((pool & ((1u << filled) - 1)) != 0) return std::nullopt;  // bits that belong to no byte
  return bytes;
}

}  // namespace stet::admin
