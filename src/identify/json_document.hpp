#pragma once
// A JSON text as a tree that loses nothing that matters for telling two bodies apart: numbers keep their
// digits, strings are unescaped, members are sorted and known to be unique.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stet::identify {

enum class JsonKind : std::uint8_t { null, no, yes, number, string, array, object };

struct JsonNode {
  std::string_view key;   // of a member: its name, unescaped
  std::string_view text;  // string: unescaped; number: as written
  std::uint32_t first_child = 0;
  std::uint32_t children = 0;
  JsonKind kind = JsonKind::null;
};

class JsonDocument {
 public:
  // Deeper, or with more values, a body is not worth its memory and is treated as not being JSON.
  static constexpr std::size_t kMaxDepth = 64;
  static constexpr std::size_t kMaxValues = 1 << 18;

  // false: not strictly JSON (RFC 8259, UTF-8), a name twice in one object, a lone surrogate, an absurd
  // exponent, or one of the limits. The nodes look at `text` and at this document. May be used again and
  // again.
  [[nodiscard]] bool parse(std::string_view text);

  const JsonNode& root() const { return nodes_[0]; }
  // Elements in order; members by their names' bytes.
  std::span<const std::uint32_t> children(const JsonNode& node) const {
    return {children_.data() + node.first_child, node.children};
  }
  const JsonNode& node(std::uint32_t index) const { return nodes_[index]; }
  const JsonNode* member(const JsonNode& object, std::string_view name) const;

 private:
  friend class JsonReader;
  void clear();

  std::vector<JsonNode> nodes_;
  std::vector<std::uint32_t> children_;
  std::vector<std::uint32_t> pending_;  // while parsing: the children so far of the containers we are in
  std::string unescaped_;               // reserved once for a text, so that views into it stay
};

}  // namespace stet::identify
