#include "stores/sealed/cipher.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#include "core/digest.hpp"
#include "stet/error.hpp"

namespace stet::stores {
namespace {

constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kKeyIdBytes = 8;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

Context new_context() {
  Context context(EVP_CIPHER_CTX_new());
  if (!context) throw std::bad_alloc();
  return context;
}

const std::uint8_t* bytes(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}
std::uint8_t* bytes(std::string& text) {
  return reinterpret_cast<std::uint8_t*>(text.data());
}

int length(std::string_view text) {
  if (text.size() > std::numeric_limits<int>::max()) {
    throw StoreError(StoreFailure::not_written, "the answer is too large to be sealed");
  }
  return static_cast<int>(text.size());
}

void require(int ok) {
  if (ok != 1) throw StoreError(StoreFailure::not_written, "the answer could not be sealed");
}

std::array<std::uint8_t, 32> keyed_hash(const EncryptionKey& key, std::string_view message) {
  std::array<std::uint8_t, 32> hash{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes(message), message.size(),
           hash.data(), &size) == nullptr) {
    throw StoreError(StoreFailure::not_written, "the answer could not be sealed");
  }
  return hash;
}

}  // namespace

// One secret from the configuration, three uses, three keys.
Cipher::Cipher(const EncryptionKey& key)
    : encryption_(keyed_hash(key, "stet answers v1: encryption")),
      nonces_(keyed_hash(key, "stet answers v1: nonces")) {
  key_id_ = to_hex(keyed_hash(key, "stet answers v1: key id").data(), kKeyIdBytes);
}

Cipher::~Cipher() {
  OPENSSL_cleanse(encryption_.data(), encryption_.size());
  OPENSSL_cleanse(nonces_.data(), nonces_.size());
}

Cipher::Nonce Cipher::nonce_for(std::string_view plain, std::string_view identity) const {
  const Digest message = sha256_parts({identity, plain});
  const auto hash = keyed_hash(nonces_, {reinterpret_cast<const char*>(message.data()), message.size()});
  Nonce nonce;
  std::copy_n(hash.begin(), nonce.size(), nonce.begin());
  return nonce;
}

std::string Cipher::seal(std::string_view plain, std::string_view identity) const {
  const Nonce nonce = nonce_for(plain, identity);
  std::string sealed(kNonceBytes + plain.size() + kTagBytes, '\0');
  std::copy(nonce.begin(), nonce.end(), bytes(sealed));
  std::uint8_t* const text = bytes(sealed) + kNonceBytes;
  const Context context = new_context();
  int size = 0;
  require(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, encryption_.data(), nonce.data()));
  require(EVP_EncryptUpdate(context.get(), nullptr, &size, bytes(identity), length(identity)));
  require(EVP_EncryptUpdate(context.get(), text, &size, bytes(plain), length(plain)));
  require(EVP_EncryptFinal_ex(context.get(), text + size, &size));
  require(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, text + plain.size()));
  return sealed;
}

std::optional<std::string> Cipher::open(std::string_view sealed, std::string_view identity) const {
  if (sealed.size() < kNonceBytes + kTagBytes) return std::nullopt;
  const std::string_view text = sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  std::string plain(text.size(), '\0');
  const Context context = new_context();
  int size = 0;
  const bool opened =
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, encryption_.data(), bytes(sealed)) == 1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &size, bytes(identity), length(identity)) == 1 &&
      EVP_DecryptUpdate(context.get(), bytes(plain), &size, bytes(text), length(text)) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytes(plain) + size, &size) == 1;
  if (!opened) return std::nullopt;
  return plain;
}

}  // namespace stet::stores
