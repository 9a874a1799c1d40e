#include "core/digest.hpp"

#include <openssl/evp.h>

#include <new>

namespace stet {
namespace {

// Fetched once and the context kept: a fetch for each digest costs three times the digest.
class Sha256 {
 public:
  Sha256() : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
    if (algorithm_ == nullptr || context_ == nullptr) throw std::bad_alloc();
  }
  ~Sha256() {
    EVP_MD_CTX_free(context_);
    EVP_MD_free(algorithm_);
  }
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void begin() { EVP_DigestInit_ex2(context_, algorithm_, nullptr); }
  void add(std::string_view bytes) { EVP_DigestUpdate(context_, bytes.data(), bytes.size()); }
  Digest end() {
    Digest digest;
    EVP_DigestFinal_ex(context_, digest.data(), nullptr);
    return digest;
  }

 private:
  EVP_MD* algorithm_;
  EVP_MD_CTX* context_;
};

Sha256& hasher() {
  thread_local Sha256 hasher;
  return hasher;
}

}  // namespace

Digest sha256(std::string_view bytes) {
  Sha256& h = hasher();
  h.begin();
  h.add(bytes);
  return h.end();
}

Digest sha256_parts(std::initializer_list<std::string_view> parts) {
  Sha256& h = hasher();
  h.begin();
  for (const auto part : parts) {
    std::array<char, 8> length;
    for (std::size_t i = 0; i < length.size(); ++i) {
      length[i] = static_cast<char>(static_cast<std::uint64_t>(part.size()) >> (8 * i) & 0xff);
    }
    h.add({length.data(), length.size()});
    h.add(part);
  }
  return h.end();
}

std::string to_hex(const std::uint8_t* bytes, std::size_t size) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(size * 2);
  for (std::size_t i = 0; i < size; ++i) {
    text.push_back(digits[bytes[i] >> 4]);
    text.push_back(digits[bytes[i] & 15]);
  }
  return text;
}

bool from_hex(std::string_view text, std::uint8_t* bytes, std::size_t size) {
  if (text.size() != size * 2) return false;
  const auto value = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  };
  for (std::size_t i = 0; i < size; ++i) {
    const int high = value(text[2 * i]);
    const int low = value(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

}  // namespace stet
