#include "stet/identity.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "core/digest.hpp"

namespace stet {

Nonce Nonce::random() {
  Nonce nonce;
  if (RAND_bytes(nonce.bytes.data(), static_cast<int>(nonce.bytes.size())) != 1) {
    throw std::runtime_error("the system's random source gave nothing: no claim can be made safely");
  }
  return nonce;
}

OperationId OperationId::of(std::string_view scope, std::string_view key) {
  const Digest digest = sha256_parts({scope, key});
  OperationId id;
  std::copy_n(digest.begin(), id.bytes.size(), id.bytes.begin());
  return id;
}

std::optional<OperationId> OperationId::parse(std::string_view text) {
  OperationId id;
  if (!from_hex(text, id.bytes.data(), id.bytes.size())) return std::nullopt;
  return id;
}

std::string OperationId::text() const {
  return to_hex(bytes);
}

namespace {

std::string hex(std::string_view text) {
  return to_hex(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

std::optional<std::string> unhex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes(text.size() / 2, '\0');
  if (!from_hex(text, reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size())) return std::nullopt;
  return bytes;
}

}  // namespace

// v1.<attempt>.<nonce>.<scope>.<key>, the last three in hexadecimal: header-safe whatever they hold.
std::string Token::text() const {
  return "v1." + std::to_string(attempt) + "." + to_hex(nonce.bytes) + "." + hex(scope) + "." + hex(key);
}

std::optional<Token> Token::parse(std::string_view text) {
  std::array<std::string_view, 5> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t dot = text.find('.');
    const bool last = i + 1 == parts.size();
    if (last != (dot == std::string_view::npos)) return std::nullopt;
    parts[i] = text.substr(0, dot);
    if (!last) text.remove_prefix(dot + 1);
  }
  Token token;
  const auto [version, attempt, nonce, scope, key] = parts;
  const auto [end, error] = std::from_chars(attempt.data(), attempt.data() + attempt.size(), token.attempt);
  const auto scope_bytes = unhex(scope);
  const auto key_bytes = unhex(key);
  if (version != "v1" || error != std::errc() || end != attempt.data() + attempt.size() ||
      token.attempt == 0 || !from_hex(nonce, token.nonce.bytes.data(), token.nonce.bytes.size()) ||
      !scope_bytes || !key_bytes) {
    return std::nullopt;
  }
  token.scope = *scope_bytes;
  token.key = *key_bytes;
  return token;
}

}  // namespace stet
