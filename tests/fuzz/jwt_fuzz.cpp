// Bearer tokens: nothing that was not signed is believed, and whatever was signed is answered or refused in
// words.

#include <cstdint>
#include <cstdlib>

#include "identify/hmac.hpp"
#include "identify/jwt.hpp"

using namespace stet;

namespace {

std::string encode(std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (held += 8; held >= 6; held -= 6) out.push_back(digits[bits >> (held - 6) & 63]);
    bits &= (1u << held) - 1;
  }
  if (held > 0) out.push_back(digits[bits << (6 - held) & 63]);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const WallTime now{std::chrono::seconds(1'800'000'000)};
  config::Jwt jwt;
  jwt.secret = "the fuzzer does not know this one, and cannot sign";
  static_cast<void>(identify::looks_like_jwt(text));
  if (identify::verified_claim(jwt, text, "sub", now)) std::abort();

  // "header|claims", signed.
  const auto bar = std::min(text.find('|'), text.size());
  const std::string_view claims = bar < text.size() ? text.substr(bar + 1) : std::string_view();
  std::string token = encode(text.substr(0, bar)) + "." + encode(claims);
  const Digest mac = identify::hmac_sha256_of(*jwt.secret, token);
  token += "." + encode({reinterpret_cast<const char*>(mac.data()), mac.size()});
  const auto found = identify::verified_claim(jwt, token, "sub", now);
  if (found ? found->size() < 2 : found.error().why.empty()) std::abort();
  jwt.secret = "another secret";
  if (identify::verified_claim(jwt, token, "sub", now)) std::abort();
  return 0;
}
