#include "identify/json_canonical.hpp"

#include "identify/decimal.hpp"
#include "identify/json_pointer.hpp"
#include "identify/netstring.hpp"

namespace stet::identify {
namespace {

class Writer {
 public:
  Writer(std::string& out, const JsonDocument& document) : out_(out), document_(document) {}

  // `ignore` and `only` are what leads here or beyond; nullptr: nothing to ignore, everything kept.
  void write(const JsonNode& node, const PointerSet* ignore, const PointerSet* only) {
    if (ignore != nullptr && ignore->ends()) return;
    if (only != nullptr && only->ends()) {
      only = nullptr;
      only_found_ = true;
    }
    switch (node.kind) {
      case JsonKind::null:
        out_.push_back('z');
        break;
      case JsonKind::no:
        out_.push_back('f');
        break;
      case JsonKind::yes:
        out_.push_back('t');
        break;
      case JsonKind::number:
        out_.push_back('#');
        numbers_fine_ = append_decimal(out_, node.text) && numbers_fine_;
        out_.push_back(';');
        break;
      case JsonKind::string:
        out_.push_back('$');
        append_netstring(out_, node.text);
        break;
      case JsonKind::array:
        array(node, ignore, only);
        break;
      case JsonKind::object:
        object(node, ignore, only);
        break;
    }
  }

  bool only_found() const { return only_found_; }
  bool numbers_fine() const { return numbers_fine_; }

 private:
  void array(const JsonNode& node, const PointerSet* ignore, const PointerSet* only) {
    out_.push_back('[');
    std::size_t index = 0;
    for (const auto child : document_.children(node)) {
      const PointerSet* const kept = only == nullptr ? nullptr : only->step(index);
      if (only == nullptr || kept != nullptr) {
        write(document_.node(child), ignore == nullptr ? nullptr : ignore->step(index), kept);
      }
      ++index;
    }
    out_.push_back(']');
  }

  void object(const JsonNode& node, const PointerSet* ignore, const PointerSet* only) {
    out_.push_back('{');
    for (const auto child : document_.children(node)) {
      const JsonNode& member = document_.node(child);
      const PointerSet* const kept = only == nullptr ? nullptr : only->step(member.key);
      if (only != nullptr && kept == nullptr) continue;
      const PointerSet* const ignored = ignore == nullptr ? nullptr : ignore->step(member.key);
      if (ignored != nullptr && ignored->ends()) continue;
      append_netstring(out_, member.key);
      write(member, ignored, kept);
    }
    out_.push_back('}');
  }

  std::string& out_;
  const JsonDocument& document_;
  bool only_found_ = false;
  bool numbers_fine_ = true;
};

}  // namespace

bool append_canonical(std::string& out, const JsonDocument& document, const std::vector<std::string>& ignore,
                      const std::vector<std::string>& only) {
  if (ignore.empty() && only.empty()) {
    Writer writer(out, document);
    writer.write(document.root(), nullptr, nullptr);
    return writer.numbers_fine();
  }
  const PointerSet ignored(ignore);
  if (!only.empty()) {
    const PointerSet kept(only);
    const std::size_t before = out.size();
    out += "only ";
    Writer writer(out, document);
    writer.write(document.root(), &ignored, &kept);
    if (writer.only_found()) return writer.numbers_fine();
    out.resize(before);
  }
  Writer writer(out, document);
  writer.write(document.root(), &ignored, nullptr);
  return writer.numbers_fine();
}

bool append_canonical_json(std::string& out, std::string_view text) {
  thread_local JsonDocument document;
  const std::size_t before = out.size();
  if (document.parse(text) && append_canonical(out, document, {}, {})) return true;
  out.resize(before);
  return false;
}

}  // namespace stet::identify
