#include "stet/derive.hpp"

#include <algorithm>
#include <array>

#include "core/digest.hpp"

namespace stet {
namespace {

constexpr std::string_view kName = "stet derived key";

std::string uuid(const Digest& digest) {
  std::array<std::uint8_t, 16> bytes;
  std::copy_n(digest.begin(), bytes.size(), bytes.begin());
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0f) | 0x80);  // version 8
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3f) | 0x80);  // the variant of RFC 9562
  std::string text = to_hex(bytes);
  for (const std::size_t at : {20U, 16U, 12U, 8U}) text.insert(at, "-");
  return text;
}

}  // namespace

std::string derive(const OperationId& operation, const Fingerprint& fingerprint, std::string_view purpose) {
  return uuid(sha256_parts({kName, operation.text(), to_hex(fingerprint.digest), purpose}));
}

std::string derive(std::string_view key, std::string_view purpose) {
  return uuid(sha256_parts({kName, key, purpose}));
}

}  // namespace stet
