#include "identify/jwt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <functional>
#include <memory>

#include "identify/base64url.hpp"
#include "identify/hmac.hpp"
#include "identify/identify.hpp"
#include "identify/request_for_test.hpp"

namespace stet::identify {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t kSeconds = 1'800'000'000;
const WallTime kNow{std::chrono::seconds(kSeconds)};
const std::string kSecret = "a secret of thirty-two bytes, at least";

std::string encode(std::string_view bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k <= n; ++k) out.push_back(digits[bits >> (18 - 6 * k) & 63]);
  }
  return out;
}

std::string token(std::string_view header, std::string_view claims,
                  const std::function<std::string(std::string_view)>& sign) {
  const std::string text = encode(header) + "." + encode(claims);
  return text + "." + encode(sign(text));
}
std::string hs256(std::string_view claims, std::string_view header = R"({"alg":"HS256","typ":"JWT"})") {
  return token(header, claims, [](std::string_view text) {
    const Digest mac = hmac_sha256_of(kSecret, text);
    return std::string(mac.begin(), mac.end());
  });
}

// A key made for this run, and what it signs.
class KeyPair {
 public:
  explicit KeyPair(EVP_PKEY* key) : key_(key, EVP_PKEY_free) {}

  std::string pem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_PUBKEY(bio.get(), key_.get());
    char* data = nullptr;
    const auto size = BIO_get_mem_data(bio.get(), &data);
    return std::string(data, static_cast<std::size_t>(size));
  }

  std::string sign(std::string_view text) const {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get());
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t size = 0;
    EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size());
    std::string signature(size, '\0');
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes,
                   text.size());
    signature.resize(size);
    return signature;
  }

  // R and S of the DER that OpenSSL makes.
  std::string sign_raw(std::string_view text) const {
    const std::string der = sign(text);
    const auto* at = reinterpret_cast<const unsigned char*>(der.data());
    const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> pair(
        d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())), ECDSA_SIG_free);
    std::string raw(64, '\0');
    BN_bn2binpad(ECDSA_SIG_get0_r(pair.get()), reinterpret_cast<unsigned char*>(raw.data()), 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair.get()), reinterpret_cast<unsigned char*>(raw.data()) + 32, 32);
    return raw;
  }

 private:
  std::shared_ptr<EVP_PKEY> key_;
};

const KeyPair& rsa() {
  static const KeyPair key(EVP_RSA_gen(2048u));
  return key;
}
const KeyPair& p256() {
  static const KeyPair key(EVP_EC_gen("P-256"));
  return key;
}

config::Jwt by_secret() {
  return {.secret = kSecret, .public_key = {}, .issuer = {}, .audience = {}};
}
config::Jwt by_key(const KeyPair& key) {
  return {.secret = {}, .public_key = key.pem(), .issuer = {}, .audience = {}};
}

// "sub's value", or "invalid: why" or "no claim: why".
std::string sub(const config::Jwt& jwt, std::string_view text, std::string_view claim = "sub") {
  const auto found = verified_claim(jwt, text, claim, kNow);
  if (found) return *found;
  return (found.error().kind == TokenFault::Kind::invalid ? "invalid: " : "no claim: ") + found.error().why;
}
std::string at(std::int64_t offset) {
  return std::to_string(kSeconds + offset);
}

TEST(Jwt, gives_the_claim_of_a_token_that_verifies) {
  EXPECT_EQ(sub(by_secret(), hs256(R"({"sub":"alice"})")), "salice");
  EXPECT_EQ(sub(by_secret(), hs256(R"({"sub":42})")), "n42");
  EXPECT_EQ(sub(by_secret(), hs256(R"({"https://x/tenant":"t1"})"), "https://x/tenant"), "st1");
}

TEST(Jwt, verifies_rs256_and_es256_with_the_public_key) {
  const auto rs = token(R"({"alg":"RS256"})", R"({"sub":"alice"})",
                        [](std::string_view text) { return rsa().sign(text); });
  EXPECT_EQ(sub(by_key(rsa()), rs), "salice");
  for (int i = 0; i < 20; ++i) {  // R and S are sometimes short
    const auto es = token(R"({"alg":"ES256"})", R"({"sub":"alice"})",
                          [](std::string_view text) { return p256().sign_raw(text); });
    EXPECT_EQ(sub(by_key(p256()), es), "salice");
  }
}

TEST(Jwt, refuses_every_other_signature) {
  const auto good = hs256(R"({"sub":"alice"})");
  const auto other = hs256(R"({"sub":"mallory"})");
  const auto last_dot = good.rfind('.');
  EXPECT_THAT(sub(by_secret(), other.substr(0, other.rfind('.')) + good.substr(last_dot)),
              StartsWith("invalid: "));
  EXPECT_THAT(sub(by_secret(), good.substr(0, last_dot + 1)), StartsWith("invalid: "));
  EXPECT_THAT(sub(by_secret(), good.substr(0, good.size() - 4)), StartsWith("invalid: "));
  EXPECT_THAT(sub(by_secret(), good + "AAAA"), StartsWith("invalid: "));
  auto foreign = by_secret();
  foreign.secret = "another secret";
  EXPECT_THAT(sub(foreign, good), AllOf(StartsWith("invalid: "), HasSubstr("signature")));
  const auto es_der = token(R"({"alg":"ES256"})", R"({"sub":"alice"})",
                            [](std::string_view text) { return p256().sign(text); });
  EXPECT_THAT(sub(by_key(p256()), es_der), StartsWith("invalid: "));
  const auto longer = token(R"({"alg":"ES256"})", R"({"sub":"alice"})",
                            [](std::string_view text) { return p256().sign_raw(text) + "x"; });
  EXPECT_THAT(sub(by_key(p256()), longer), StartsWith("invalid: "));
  const auto zeros = token(R"({"alg":"ES256"})", R"({"sub":"alice"})",
                           [](std::string_view) { return std::string(64, '\0'); });
  EXPECT_THAT(sub(by_key(p256()), zeros), StartsWith("invalid: "));
}

TEST(Jwt, refuses_alg_none_in_any_spelling) {
  for (const char* alg : {"none", "None", "NONE", ""}) {
    const std::string header = std::string("{\"alg\":\"") + alg + "\"}";
    const auto unsigned_token =
        token(header, R"({"sub":"alice"})", [](std::string_view) { return std::string(); });
    EXPECT_THAT(sub(by_secret(), unsigned_token), StartsWith("invalid: ")) << alg;
    EXPECT_THAT(sub(by_key(rsa()), unsigned_token), StartsWith("invalid: ")) << alg;
    EXPECT_THAT(sub({}, unsigned_token), StartsWith("invalid: ")) << alg;
  }
  EXPECT_THAT(
      sub(by_secret(), token("{}", R"({"sub":"alice"})", [](std::string_view) { return std::string(); })),
      StartsWith("invalid: "));
}

TEST(Jwt, is_not_talked_into_taking_the_public_key_for_a_secret) {
  for (const KeyPair* key : {&rsa(), &p256()}) {
    const auto confused = token(R"({"alg":"HS256"})", R"({"sub":"alice"})", [key](std::string_view text) {
      const Digest mac = hmac_sha256_of(key->pem(), text);
      return std::string(mac.begin(), mac.end());
    });
    EXPECT_THAT(sub(by_key(*key), confused), AllOf(StartsWith("invalid: "), HasSubstr("algorithm")));
  }
}

TEST(Jwt, takes_no_other_algorithm_than_the_keys_own) {
  const auto rs_by_ec = token(R"({"alg":"RS256"})", R"({"sub":"alice"})",
                              [](std::string_view text) { return p256().sign_raw(text); });
  EXPECT_THAT(sub(by_key(p256()), rs_by_ec), StartsWith("invalid: "));
  for (const char* alg : {"HS384", "HS512", "RS512", "PS256", "ES384", "EdDSA", "hs256", "rs256"}) {
    EXPECT_THAT(sub(by_secret(), hs256(R"({"sub":"alice"})", std::string("{\"alg\":\"") + alg + "\"}")),
                StartsWith("invalid: "))
        << alg;
  }
  auto empty = by_secret();
  empty.secret = "";
  EXPECT_THAT(sub(empty, hs256(R"({"sub":"alice"})")), StartsWith("invalid: "));
}

TEST(Jwt, says_when_its_own_key_is_of_no_use) {
  const KeyPair small(EVP_RSA_gen(1024u));
  const KeyPair p384(EVP_EC_gen("P-384"));
  for (const std::string& pem : {small.pem(), p384.pem(), std::string("not PEM"), std::string()}) {
    config::Jwt jwt;
    jwt.public_key = pem;
    const auto any = token(R"({"alg":"RS256"})", R"({"sub":"alice"})",
                           [&small](std::string_view text) { return small.sign(text); });
    EXPECT_THAT(sub(jwt, any), AllOf(StartsWith("invalid: "), HasSubstr("jwt.public_key")));
  }
}

TEST(Jwt, is_valid_only_between_nbf_and_exp) {
  const auto dated = [](const std::string& claims) {
    return sub(by_secret(), hs256("{\"sub\":\"a\"," + claims + "}"));
  };
  EXPECT_EQ(dated("\"exp\":" + at(1)), "sa");
  EXPECT_THAT(dated("\"exp\":" + at(0)), AllOf(StartsWith("invalid: "), HasSubstr("expired")));
  EXPECT_THAT(dated("\"exp\":" + at(-1) + ".5"), HasSubstr("expired"));
  EXPECT_EQ(dated("\"exp\":" + at(0) + ".5"), "sa");
  EXPECT_EQ(dated("\"nbf\":" + at(0)), "sa");
  EXPECT_EQ(dated("\"nbf\":" + at(5)), "sa");
  EXPECT_THAT(dated("\"nbf\":" + at(6)), AllOf(StartsWith("invalid: "), HasSubstr("nbf")));
  for (const char* odd :
       {"\"exp\":\"1900000000\"", "\"exp\":null", "\"exp\":1e400", "\"nbf\":\"0\"", "\"exp\":true"}) {
    EXPECT_THAT(dated(odd), AllOf(StartsWith("invalid: "), HasSubstr("not a number"))) << odd;
  }
}

TEST(Jwt, checks_issuer_and_audience_where_they_are_configured) {
  auto jwt = by_secret();
  jwt.issuer = "https://id.example";
  EXPECT_EQ(sub(jwt, hs256(R"({"sub":"a","iss":"https://id.example"})")), "sa");
  for (const char* claims : {R"({"sub":"a"})", R"({"sub":"a","iss":"https://id.example/"})",
                             R"({"sub":"a","iss":["https://id.example"]})"}) {
    EXPECT_THAT(sub(jwt, hs256(claims)), AllOf(StartsWith("invalid: "), HasSubstr("iss"))) << claims;
  }
  jwt = by_secret();
  jwt.audience = "charges";
  EXPECT_EQ(sub(jwt, hs256(R"({"sub":"a","aud":"charges"})")), "sa");
  EXPECT_EQ(sub(jwt, hs256(R"({"sub":"a","aud":["x","charges"]})")), "sa");
  for (const char* claims : {R"({"sub":"a"})", R"({"sub":"a","aud":"x"})", R"({"sub":"a","aud":[]})",
                             R"({"sub":"a","aud":{"charges":1}})"}) {
    EXPECT_THAT(sub(jwt, hs256(claims)), AllOf(StartsWith("invalid: "), HasSubstr("aud"))) << claims;
  }
}

TEST(Jwt, refuses_what_is_not_one_well_formed_token) {
  for (const char* text : {"", ".", "..", "a.b.c", "a.b", "eyJhbGciOiJIUzI1NiJ9.e30",
                           "eyJhbGciOiJIUzI1NiJ9.e30.a.b.c", "e30=.e30.YQ"}) {
    EXPECT_THAT(sub(by_secret(), text), StartsWith("invalid: ")) << text;
  }
  EXPECT_THAT(sub(by_secret(), hs256(R"({"sub":"a","sub":"b"})")), StartsWith("invalid: "));
  EXPECT_THAT(sub(by_secret(), hs256("[]")), StartsWith("invalid: "));
  EXPECT_THAT(sub(by_secret(), hs256(R"({"sub":"a"})", R"({"alg":"HS256","alg":"none"})")),
              StartsWith("invalid: "));
  EXPECT_THAT(sub(by_secret(), hs256(R"({"sub":"a"})", R"({"alg":"HS256","crit":["exp"]})")),
              StartsWith("invalid: "));
}

TEST(Jwt, with_no_usable_claim_is_no_bad_token) {
  for (const char* claims : {"{}", R"({"sub":""})", R"({"sub":null})", R"({"sub":["a"]})",
                             R"({"sub":{"a":1}})", R"({"sub":true})", R"({"sub":1.5})"}) {
    EXPECT_THAT(sub(by_secret(), hs256(claims)), AllOf(StartsWith("no claim: "), HasSubstr("\"sub\"")))
        << claims;
  }
}

TEST(JwtScope, is_the_claim_and_outlives_the_token) {
  config::Config config;
  config.jwt = by_secret();
  config::Route route;
  route.scope = {{config::ScopePart::Kind::jwt, "sub"}};
  const auto find = [&](FieldList list) {
    return find_scope(config, route, request("POST", "/", list), kNow, {});
  };
  const auto first = find({{"Authorization", "Bearer " + hs256("{\"sub\":\"a\",\"exp\":" + at(10) + "}")}});
  const auto renewed = find({{"authorization", "bearer " + hs256("{\"sub\":\"a\",\"exp\":" + at(99) + "}")}});
  const auto other = find({{"Authorization", "Bearer " + hs256(R"({"sub":"b"})")}});
  ASSERT_TRUE(first && renewed && other);
  EXPECT_EQ(first->value, renewed->value);
  EXPECT_NE(first->value, other->value);
  EXPECT_EQ(first->rule, "jwt:sub");

  EXPECT_EQ(
      find({{"Authorization", "Bearer " + hs256("{\"sub\":\"a\",\"exp\":" + at(-1) + "}")}}).error().problem,
      Problem::credentials_invalid);
  EXPECT_EQ(find({{"Authorization", "Bearer opaque"}}).error().problem, Problem::credentials_invalid);
  EXPECT_EQ(find({{"Authorization", "Bearer " + hs256("{}")}}).error().problem, Problem::scope_undefined);
  const std::string good = "Bearer " + hs256(R"({"sub":"a"})");
  for (FieldList list : {FieldList{}, FieldList{{"Authorization", good}, {"Authorization", good}},
                         FieldList{{"Authorization", "Basic x"}}, FieldList{{"Authorization", "Bearer"}},
                         FieldList{{"X-Api-Key", good}}}) {
    const auto found = find(list);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().problem, Problem::scope_undefined) << found.error().detail;
  }
  config.jwt.reset();
  EXPECT_THAT(find({{"Authorization", good}}).error().detail, HasSubstr("jwt.secret"));
}

TEST(Base64url, is_read_strictly) {
  EXPECT_EQ(decode_base64url(""), "");
  EXPECT_EQ(decode_base64url("YQ"), "a");
  EXPECT_EQ(decode_base64url("_-8"), "\xff\xef");
  for (const char* text : {"Y", "YQ==", "YR", "Y+Q", "YQ\n", "Y Q"})
    EXPECT_EQ(decode_base64url(text), std::nullopt) << text;
}

}  // namespace
}  // namespace stet::identify
