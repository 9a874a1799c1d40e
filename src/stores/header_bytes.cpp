#include "stores/header_bytes.hpp"

#include <cstdint>

namespace stet::stores {
namespace {

constexpr std::size_t kLengthBytes = 4;

}  // namespace

void append_part(std::string& to, std::string_view part) {
  const auto size = static_cast<std::uint32_t>(part.size());
  for (std::size_t i = 0; i < kLengthBytes; ++i) to.push_back(static_cast<char>(size >> (8 * i) & 0xff));
  to.append(part);
}

std::optional<std::string_view> take_part(std::string_view& from) {
  if (from.size() < kLengthBytes) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    size |= static_cast<std::size_t>(static_cast<unsigned char>(from[i])) << (8 * i);
  }
  from.remove_prefix(kLengthBytes);
  if (from.size() < size) return std::nullopt;
  const std::string_view part = from.substr(0, size);
  from.remove_prefix(size);
  return part;
}

std::string pack(const Headers& headers) {
  std::string bytes;
  for (const Header& header : headers) {
    append_part(bytes, header.name);
    append_part(bytes, header.value);
  }
  return bytes;
}

std::optional<Headers> unpack_headers(std::string_view bytes) {
  Headers headers;
  while (!bytes.empty()) {
    const auto name = take_part(bytes);
    const auto value = name ? take_part(bytes) : std::nullopt;
    if (!value) return std::nullopt;
    headers.push_back({std::string(*name), std::string(*value)});
  }
  return headers;
}

}  // namespace stet::stores
