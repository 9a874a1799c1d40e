#include "config/key_material.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace stet::config {
namespace {

constexpr std::size_t kKeyBytes = 32;  // AES-256

std::optional<unsigned> digit_of(char c, std::string_view alphabet) {
  const std::size_t at = alphabet.find(c);
  if (at == alphabet.npos) return std::nullopt;
  return static_cast<unsigned>(at);
}

// Both encodings are runs of digits of `bits` bits each.
std::optional<std::string> decode(std::string_view text, std::string_view alphabet, unsigned bits) {
  std::string bytes;
  std::uint32_t pool = 0;
  unsigned filled = 0;
  for (const char c : text) {
    const auto digit = digit_of(c, alphabet);
    if (!digit) return std::nullopt;
    pool = (pool << bits | *digit) & 0xffff;
    filled += bits;
    if (filled >= 8) {
      filled -= 8;
      bytes.push_back(static_cast<char>(pool >> filled & 0xff));
    }
  }
  return bytes;
}

}  // namespace

Expected<std::string, std::string> decode_encryption_key(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() == 2 * kKeyBytes) {
    std::string small(text);
    for (char& c : small)
      if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    if (auto key = decode(small, kHex, 4)) return std::move(*key);
  }
  std::string_view digits = text;
  if (digits.ends_with('=')) digits.remove_suffix(1);
  if (digits.size() == 43)
    if (auto key = decode(digits, kBase64, 6)) return std::move(*key);
  return unexpected<std::string>(
      "the key is not 32 bytes as 64 hex digits or in base64; `openssl rand -hex 32` makes one");
}

std::string public_key_error(const std::string& pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> source(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      PEM_read_bio_PUBKEY(source.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
  ERR_clear_error();
  if (!key) {
    if (pem.find("PRIVATE KEY") != pem.npos)
      return "a private key; verification needs the public one (`openssl pkey -pubout`)";
    return "no public key in PEM (\"-----BEGIN PUBLIC KEY-----\")";
  }
  if (EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_RSA) {
    if (EVP_PKEY_get_bits(key.get()) < 2048) return "an RSA key under 2048 bits (RFC 7518 section 3.3)";
    return {};
  }
  if (EVP_PKEY_get_base_id(key.get()) == EVP_PKEY_EC && EVP_PKEY_get_bits(key.get()) == 256) return {};
  return "neither an RSA key (RS256) nor one on the curve P-256 (ES256)";
}

}  // namespace stet::config
