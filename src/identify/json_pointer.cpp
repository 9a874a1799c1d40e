#include "identify/json_pointer.hpp"

#include <charconv>

namespace stet::identify {
namespace {

// Section 4: "0" or digits without a leading zero.
std::optional<std::size_t> array_index(std::string_view token) {
  if (token.empty() || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return index;
}

const JsonNode* child(const JsonDocument& document, const JsonNode& node, std::string_view token) {
  if (node.kind == JsonKind::object) return document.member(node, token);
  if (node.kind != JsonKind::array) return nullptr;
  const auto index = array_index(token);
  if (!index || *index >= node.children) return nullptr;
  return &document.node(document.children(node)[*index]);
}

}  // namespace

std::optional<std::vector<std::string>> parse_json_pointer(std::string_view text) {
  std::vector<std::string> tokens;
  if (text.empty()) return tokens;
  if (text.front() != '/') return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      tokens.emplace_back();
    } else if (text[i] != '~') {
      tokens.back().push_back(text[i]);
    } else {
      ++i;
      if (i == text.size() || (text[i] != '0' && text[i] != '1')) return std::nullopt;
      tokens.back().push_back(text[i] == '0' ? '~' : '/');
    }
  }
  return tokens;
}

const JsonNode* find(const JsonDocument& document, std::string_view pointer) {
  const auto tokens = parse_json_pointer(pointer);
  if (!tokens) return nullptr;
  const JsonNode* node = &document.root();
  for (const auto& token : *tokens) {
    node = child(document, *node, token);
    if (node == nullptr) return nullptr;
  }
  return node;
}

PointerSet::PointerSet(const std::vector<std::string>& pointers) {
  for (const auto& pointer : pointers) {
    const auto tokens = parse_json_pointer(pointer);
    if (!tokens) continue;
    PointerSet* at = this;
    for (const auto& token : *tokens) at = &at->next_.try_emplace(token, PointerSet()).first->second;
    at->ends_ = true;
  }
}

const PointerSet* PointerSet::step(std::string_view token) const {
  const auto found = next_.find(token);
  return found == next_.end() ? nullptr : &found->second;
}

const PointerSet* PointerSet::step(std::size_t index) const {
  if (next_.empty()) return nullptr;
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, index).ptr;
  return step(std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

}  // namespace stet::identify
