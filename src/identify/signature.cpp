#include "identify/signature.hpp"

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "identify/hmac.hpp"

namespace stet::identify {
namespace {

template <auto free>
struct Free {
  template <class T>
  void operator()(T* pointer) const {
    free(pointer);
  }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using PublicKey = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Context = std::unique_ptr<EVP_MD_CTX, Free<EVP_MD_CTX_free>>;
using EcSignature = std::unique_ptr<ECDSA_SIG, Free<ECDSA_SIG_free>>;

struct ClearedErrors {
  ~ClearedErrors() { ERR_clear_error(); }
};

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

PublicKey parse_key(const std::string& pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return PublicKey(bio ? PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr) : nullptr);
}

// Parsing costs more than verifying, and the configuration hardly ever changes.
EVP_PKEY* key_of(const std::string& pem) {
  struct Parsed {
    std::string pem;
    PublicKey key;
  };
  thread_local Parsed last;
  if (!last.key || last.pem != pem) last = {pem, parse_key(pem)};
  return last.key.get();
}

// The algorithm that a public key is for; empty: none of ours.
std::string_view algorithm_of(EVP_PKEY* key) {
  if (key == nullptr) return {};
  if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA) return EVP_PKEY_get_bits(key) >= 2048 ? "RS256" : "";
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) return {};
  char group[32] = {};
  if (EVP_PKEY_get_group_name(key, group, sizeof group, nullptr) != 1) return {};
  return std::string_view(group) == "prime256v1" ? "ES256" : "";
}

// RFC 7518 section 3.4: R and S, 32 bytes each; OpenSSL wants DER.
std::string der_of(std::string_view signature) {
  if (signature.size() != 64) return {};
  const EcSignature pair(ECDSA_SIG_new());
  BIGNUM* const r = BN_bin2bn(bytes(signature), 32, nullptr);
  BIGNUM* const s = BN_bin2bn(bytes(signature) + 32, 32, nullptr);
  if (!pair || ECDSA_SIG_set0(pair.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return {};
  }
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(pair.get(), &der);
  if (size <= 0) return {};
  std::string text(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return text;
}

SignatureCheck check_public(EVP_PKEY* key, std::string_view text, std::string_view signature) {
  const Context context(EVP_MD_CTX_new());
  if (!context || EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) != 1) {
    return SignatureCheck::bad;
  }
  const int verdict =
      EVP_DigestVerify(context.get(), bytes(signature), signature.size(), bytes(text), text.size());
  return verdict == 1 ? SignatureCheck::good : SignatureCheck::bad;
}

}  // namespace

SignatureCheck check_signature(const config::Jwt& jwt, std::string_view algorithm, std::string_view text,
                               std::string_view signature) {
  // What OpenSSL notes about a bad key or signature is not for whoever uses this thread's error queue next.
  const ClearedErrors cleared;
  if (algorithm == "HS256" && jwt.secret && !jwt.secret->empty()) {
    const Digest wanted = hmac_sha256_of(*jwt.secret, text);
    const bool same = signature.size() == wanted.size() &&
                      CRYPTO_memcmp(signature.data(), wanted.data(), wanted.size()) == 0;
    return same ? SignatureCheck::good : SignatureCheck::bad;
  }
  if (!jwt.public_key) return SignatureCheck::other_algorithm;
  EVP_PKEY* const key = key_of(*jwt.public_key);
  const std::string_view ours = algorithm_of(key);
  if (ours.empty()) return SignatureCheck::unusable_key;
  if (algorithm != ours) return SignatureCheck::other_algorithm;
  if (ours == "RS256") return check_public(key, text, signature);
  const std::string der = der_of(signature);
  return der.empty() ? SignatureCheck::bad : check_public(key, text, der);
}

}  // namespace stet::identify
