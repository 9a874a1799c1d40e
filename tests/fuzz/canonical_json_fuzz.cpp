// The canonical form of JSON: a value spelt in a quite different way keeps its form, and a changed value does
// not.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "identify/json_canonical.hpp"

using namespace stet::identify;

namespace {

void spell_string(std::string& out, std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out.append("\\u00").push_back(digits[byte >> 4]);
      out.push_back(digits[byte & 15]);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

// Members backwards, every ASCII character escaped, numbers one digit longer, spaces everywhere.
void spell(std::string& out, const JsonDocument& document, const JsonNode& node) {
  switch (node.kind) {
    case JsonKind::null:
      out += " null ";
      return;
    case JsonKind::no:
      out += " false ";
      return;
    case JsonKind::yes:
      out += " true ";
      return;
    case JsonKind::string:
      spell_string(out, node.text);
      return;
    case JsonKind::number: {
      const auto e = std::min(node.text.find_first_of("eE"), node.text.size());
      const bool has_point = node.text.substr(0, e).find('.') != std::string_view::npos;
      out.append(node.text.substr(0, e)).append(has_point ? "0" : ".0").append(node.text.substr(e));
      return;
    }
    case JsonKind::array:
    case JsonKind::object:
      break;
  }
  const bool object = node.kind == JsonKind::object;
  const auto children = document.children(node);
  out += object ? "{ " : "[ ";
  for (std::size_t i = 0; i < children.size(); ++i) {
    const JsonNode& child = document.node(children[object ? children.size() - 1 - i : i]);
    if (i > 0) out += " , ";
    if (object) {
      spell_string(out, child.key);
      out += " : ";
    }
    spell(out, document, child);
  }
  out += object ? "\n}" : "\n]";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string form;
  if (!append_canonical_json(form, text)) {
    if (!form.empty()) std::abort();
    return 0;
  }
  JsonDocument document;
  if (!document.parse(text)) std::abort();
  std::string other;
  spell(other, document, document.root());
  std::string again;
  if (!append_canonical_json(again, other) || again != form) std::abort();

  std::string changed;
  if (append_canonical_json(changed, "[" + text + "]") && changed != "[" + form + "]") std::abort();
  // Pointers of any kind lead to a form or to none, and never beyond the document.
  std::string part;
  const std::vector<std::string> pointers{"/a", "/0", "/a/0/b", ""};
  for (const auto& pointer : pointers) {
    if (!append_canonical(part, document, {pointer}, {}) || !append_canonical(part, document, {}, {pointer}))
      std::abort();
  }
  return 0;
}
