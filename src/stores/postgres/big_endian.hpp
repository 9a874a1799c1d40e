#pragma once
// Integers as PostgreSQL's protocol has them: most significant byte first.

#include <concepts>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace stet::stores::postgres {

template <std::signed_integral I>
void append_big_endian(std::string& to, I value) {
  const auto bits = static_cast<std::make_unsigned_t<I>>(value);
  for (std::size_t i = sizeof(I); i-- > 0;) to.push_back(static_cast<char>(bits >> (8 * i) & 0xff));
}

// `bytes` has exactly the size of I.
template <std::signed_integral I>
I big_endian(std::string_view bytes) {
  std::make_unsigned_t<I> bits = 0;
  for (std::size_t i = 0; i < sizeof(I); ++i) {
    bits = static_cast<std::make_unsigned_t<I>>((static_cast<std::uint64_t>(bits) << 8) |
                                                static_cast<unsigned char>(bytes[i]));
  }
  return static_cast<I>(bits);
}

}  // namespace stet::stores::postgres
