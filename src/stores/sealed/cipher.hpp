#pragma once
// AES-256-GCM for one key, with the nonce taken from what is sealed: the same answer of the same record gives
// the same bytes, so that a repeated `complete` is still seen to be the same.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stores/sealed/sealed_store.hpp"

namespace stet::stores {

class Cipher {
 public:
  explicit Cipher(const EncryptionKey& key);
  ~Cipher();
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;

  const std::string& key_id() const {
    return key_id_;
  }  // 16 hex digits; tells keys apart and nothing about them

  // nonce (12 bytes), ciphertext, tag (16 bytes). `identity` is bound to it and not contained.
  std::string seal(std::string_view plain, std::string_view identity) const;
  std::optional<std::string> open(std::string_view sealed, std::string_view identity) const;

 private:
  using Nonce = std::array<std::uint8_t, 12>;
  Nonce nonce_for(std::string_view plain, std::string_view identity) const;

  EncryptionKey encryption_{};
  EncryptionKey nonces_{};
  std::string key_id_;
};

}  // namespace stet::stores
