#pragma once
// Who asks for what: the identity of one operation, and the small fixed-size values it is made of.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stet {

using Digest = std::array<std::uint8_t, 32>;  // SHA-256

// The present owner's random 128 bits, made by the caller afresh for each claim and take-over.
struct Nonce {
  std::array<std::uint8_t, 16> bytes{};
  static Nonce random();
  auto operator<=>(const Nonce&) const = default;
};

// Names a record from outside (status location, logs, operators): the first 128 bits of
// SHA-256 over (scope, key), so finding a record by its id needs no second index.
struct OperationId {
  std::array<std::uint8_t, 16> bytes{};
  static OperationId of(std::string_view scope, std::string_view key);
  static std::optional<OperationId> parse(std::string_view text);  // 32 lower-case hex digits
  std::string text() const;
  auto operator<=>(const OperationId&) const = default;
};

// Which algorithm and which route settings made a fingerprint, as one line of text that can make it
// again: a stored record is judged by its own recipe after an upgrade or a reload.
using Recipe = std::string;

struct Fingerprint {
  Digest digest{};
  Recipe recipe;
  bool operator==(const Fingerprint&) const = default;
};

// The capability of the present owner. Every command after the claim carries it and changes nothing
// once the record has moved on.
struct Token {
  std::string scope;
  std::string key;
  Nonce nonce;
  std::uint32_t attempt = 0;  // 1, 2, …

  OperationId id() const { return OperationId::of(scope, key); }
  std::string text() const;  // opaque (the header `Stet-Token`)
  static std::optional<Token> parse(std::string_view text);
  bool operator==(const Token&) const = default;
};

}  // namespace stet
