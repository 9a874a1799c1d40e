#include "identify/hmac.hpp"

#include <openssl/core_names.h>
#include <openssl/evp.h>

#include <new>
#include <stdexcept>
#include <string>

namespace stet::identify {
namespace {

// Fetched once a thread; a fetch costs more than the MAC of a small body.
class Hmac {
 public:
  Hmac() : algorithm_(EVP_MAC_fetch(nullptr, "HMAC", nullptr)) {
    if (algorithm_ == nullptr) throw std::runtime_error("no HMAC in this OpenSSL");
    context_ = EVP_MAC_CTX_new(algorithm_);
    if (context_ == nullptr) throw std::bad_alloc();
    char name[] = "SHA256";
    const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
                                 OSSL_PARAM_construct_end()};
    if (EVP_MAC_CTX_set_params(context_, params) != 1)
      throw std::runtime_error("no HMAC-SHA-256 in this OpenSSL");
  }
  ~Hmac() {
    EVP_MAC_CTX_free(context_);
    EVP_MAC_free(algorithm_);
  }
  Hmac(const Hmac&) = delete;
  Hmac& operator=(const Hmac&) = delete;

  void begin(std::string_view secret) {
    // A null key would mean the one before.
    const auto* key = reinterpret_cast<const unsigned char*>(secret.empty() ? "" : secret.data());
    if (EVP_MAC_init(context_, key, secret.size(), nullptr) != 1)
      throw std::runtime_error("HMAC-SHA-256 failed");
  }
  void add(std::string_view bytes) {
    EVP_MAC_update(context_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  }
  Digest end() {
    Digest digest;
    std::size_t size = 0;
    if (EVP_MAC_final(context_, digest.data(), &size, digest.size()) != 1 || size != digest.size()) {
      throw std::runtime_error("HMAC-SHA-256 failed");
    }
    return digest;
  }

 private:
  EVP_MAC* algorithm_;
  EVP_MAC_CTX* context_ = nullptr;
};

Hmac& hmac() {
  thread_local Hmac hmac;
  return hmac;
}

}  // namespace

Digest hmac_sha256(std::string_view secret, std::initializer_list<std::string_view> parts) {
  Hmac& h = hmac();
  h.begin(secret);
  for (const auto part : parts) {
    h.add(std::to_string(part.size()) + ":");
    h.add(part);
  }
  return h.end();
}

Digest hmac_sha256_of(std::string_view secret, std::string_view bytes) {
  Hmac& h = hmac();
  h.begin(secret);
  h.add(bytes);
  return h.end();
}

}  // namespace stet::identify
