#pragma once
// SHA-256 over parts that cannot run into each other: each part is preceded by its length.

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "stet/identity.hpp"

namespace stet {

Digest sha256(std::string_view bytes);
Digest sha256_parts(std::initializer_list<std::string_view> parts);

std::string to_hex(const std::uint8_t* bytes, std::size_t size);
template <std::size_t N>
std::string to_hex(const std::array<std::uint8_t, N>& bytes) {
  return to_hex(bytes.data(), N);
}
// Lower-case digits only, exactly `size` bytes.
bool from_hex(std::string_view text, std::uint8_t* bytes, std::size_t size);

}  // namespace stet
