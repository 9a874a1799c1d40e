#pragma once
// JSON pointers (RFC 6901), one by one and as a set.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "identify/json_document.hpp"

namespace stet::identify {

// "/a~1b/0" → {"a/b", "0"}; "" → {}. nothing: not a pointer.
std::optional<std::vector<std::string>> parse_json_pointer(std::string_view);

// What the pointer leads to; nullptr: nothing there, or not a pointer.
const JsonNode* find(const JsonDocument&, std::string_view pointer);

// A set of pointers, walked alongside a document. What is no pointer is left out (the configuration has
// checked).
class PointerSet {
 public:
  explicit PointerSet(const std::vector<std::string>& pointers);

  bool empty() const { return !ends_ && next_.empty(); }
  bool ends() const { return ends_; }                    // a pointer leads exactly here
  const PointerSet* step(std::string_view token) const;  // nullptr: no pointer leads there or beyond
  const PointerSet* step(std::size_t index) const;

 private:
  PointerSet() = default;
  bool ends_ = false;
  std::map<std::string, PointerSet, std::less<>> next_;
};

}  // namespace stet::identify
