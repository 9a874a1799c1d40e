#include "stores/text.hpp"

#include <cstddef>

namespace stet::stores {
namespace {

// How many bytes the UTF-8 character at `at` has; 0: it is none.
std::size_t character(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
  const std::size_t left = bytes.size() - at;
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const auto continues = [&](std::size_t i) { return i < left && (byte(i) & 0xc0) == 0x80; };
  if (first >= 0xc2 && first < 0xe0) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first < 0xf0) {
    if (!continues(1) || !continues(2)) return 0;
    const bool overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = first == 0xed && byte(1) >= 0xa0;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xf0 && first < 0xf5) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    const bool overlong = first == 0xf0 && byte(1) < 0x90;
    const bool beyond = first == 0xf4 && byte(1) >= 0x90;
    return overlong || beyond ? 0 : 4;
  }
  return 0;
}

}  // namespace

bool is_text(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = bytes[at] == '\0' ? 0 : character(bytes, at);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

}  // namespace stet::stores
