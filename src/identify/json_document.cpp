#include "identify/json_document.hpp"

#include <algorithm>
#include <limits>

#include "identify/json_text_unit.hpp"

namespace stet::identify {

// Reads a text once, from the front to the back. Every function stands at what it is to read and returns false where
// the text is not what RFC 8259 wants there.
class JsonReader {
 public:
  JsonReader(JsonDocument& document, std::string_view text)
      : document_(document), text_(text), at_(text.data()), end_(text.data() + text.size()) {}

  bool read() {
    skip_space();
    if (!value({}, JsonDocument::kMaxDepth)) return false;
    skip_space();
    return at_ == end_;
  }

 private:
  bool value(std::string_view key, std::size_t depth) {
    if (at_ == end_ || document_.nodes_.size() == JsonDocument::kMaxValues) return false;
    switch (*at_) {
      case '{':
        return depth > 0 && object(key, depth - 1);
      case '[':
        return depth > 0 && array(key, depth - 1);
      case '"':
        return string_value(key);
      case 't':
        return word("true", JsonKind::yes, key);
      case 'f':
        return word("false", JsonKind::no, key);
      case 'n':
        return word("null", JsonKind::null, key);
      default:
        return number(key);
    }
  }

  bool object(std::string_view key, std::size_t depth) {
    const Container container = open(JsonKind::object, key);
    if (take_after_space('}')) {
      close(container);
      return true;
    }
    do {
      skip_space();
      std::string_view name;
      if (at_ == end_ || *at_ != '"' || !string(name) || !take_after_space(':')) return false;
      skip_space();
      if (!child(name, depth)) return false;
    } while (take_after_space(','));
    return take('}') && sort_members(close(container));
  }

  bool array(std::string_view key, std::size_t depth) {
    const Container container = open(JsonKind::array, key);
    if (take_after_space(']')) {
      close(container);
      return true;
    }
    do {
      skip_space();
      if (!child({}, depth)) return false;
    } while (take_after_space(','));
    if (!take(']')) return false;
    close(container);
    return true;
  }

  bool child(std::string_view key, std::size_t depth) {
    document_.pending_.push_back(next_node());
    return value(key, depth);
  }

  bool string_value(std::string_view key) {
    std::string_view text;
    if (!string(text)) return false;
    add(JsonKind::string, key, text);
    return true;
  }

  // In place where nothing is escaped; else unescaped into the document's own store.
  bool string(std::string_view& out) {
    const char* piece = ++at_;
    auto& store = document_.unescaped_;
    const std::size_t gathered_from = store.size();
    bool escaped = false;
    for (;;) {
      if (at_ == end_) return false;
      const auto c = static_cast<unsigned char>(*at_);
      if (c == '"') break;
      if (c == '\\') {
        // No text is longer unescaped than escaped, so this one reservation is never outgrown.
        if (store.capacity() < text_.size()) store.reserve(text_.size());
        escaped = true;
        store.append(piece, at_);
        if (!append_unescaped(store, at_, end_)) return false;
        piece = at_;
      } else if (c < 0x20) {
        return false;
      } else if (c < 0x80) {
        ++at_;
      } else if (!skip_utf8(at_, end_)) {
        return false;
      }
    }
    if (escaped) {
      store.append(piece, at_);
      out = std::string_view(store).substr(gathered_from);
    } else {
      out = {piece, static_cast<std::size_t>(at_ - piece)};
    }
    ++at_;
    return true;
  }

  bool number(std::string_view key) {
    const char* const begin = at_;
    take('-');
    if (!take('0') && digits() == 0) return false;
    if (take('.') && digits() == 0) return false;
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (!take('+')) take('-');
      const char* const exponent = at_;
      if (digits() == 0 || absurd({exponent, static_cast<std::size_t>(at_ - exponent)})) return false;
    }
    add(JsonKind::number, key, {begin, static_cast<std::size_t>(at_ - begin)});
    return true;
  }

  static bool absurd(std::string_view exponent) {
    exponent.remove_prefix(std::min(exponent.find_first_not_of('0'), exponent.size()));
    std::int64_t value = 0;
    for (const char digit : exponent.substr(0, 11)) value = value * 10 + (digit - '0');
    return value > std::numeric_limits<int>::max();
  }

  std::size_t digits() {
    const char* const begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return static_cast<std::size_t>(at_ - begin);
  }

  bool word(std::string_view word, JsonKind kind, std::string_view key) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) return false;
    at_ += word.size();
    add(kind, key, {});
    return true;
  }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool take_after_space(char c) {
    skip_space();
    return take(c);
  }

  std::uint32_t next_node() const { return static_cast<std::uint32_t>(document_.nodes_.size()); }
  void add(JsonKind kind, std::string_view key, std::string_view text) {
    document_.nodes_.push_back({.key = key, .text = text, .kind = kind});
  }

  struct Container {
    std::uint32_t node;
    std::size_t mark;  // where its children begin in pending_
  };
  Container open(JsonKind kind, std::string_view key) {
    ++at_;
    const Container container{next_node(), document_.pending_.size()};
    add(kind, key, {});
    return container;
  }
  const JsonNode& close(const Container& container) {
    auto& pending = document_.pending_;
    const auto first = pending.begin() + static_cast<std::ptrdiff_t>(container.mark);
    JsonNode& node = document_.nodes_[container.node];
    node.first_child = static_cast<std::uint32_t>(document_.children_.size());
    node.children = static_cast<std::uint32_t>(pending.end() - first);
    document_.children_.insert(document_.children_.end(), first, pending.end());
    pending.erase(first, pending.end());
    return node;
  }

  // false: a name stands twice.
  bool sort_members(const JsonNode& object) {
    const auto first = document_.children_.begin() + object.first_child;
    const auto last = first + object.children;
    const auto key = [this](std::uint32_t index) { return document_.nodes_[index].key; };
    const auto before = [&key](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); };
    if (!std::is_sorted(first, last, before)) std::sort(first, last, before);
    return std::adjacent_find(first, last,
                              [&key](std::uint32_t a, std::uint32_t b) { return key(a) == key(b); }) == last;
  }

  JsonDocument& document_;
  const std::string_view text_;
  const char* at_;
  const char* const end_;
};

void JsonDocument::clear() {
  // One large body must not hold its memory for ever.
  if (nodes_.capacity() > 4096 || unescaped_.capacity() > (std::size_t{64} << 10)) *this = JsonDocument();
  nodes_.clear();
  children_.clear();
  pending_.clear();
  unescaped_.clear();
}

bool JsonDocument::parse(std::string_view text) {
  clear();
  return JsonReader(*this, text).read();
}

const JsonNode* JsonDocument::member(const JsonNode& object, std::string_view name) const {
  if (object.kind != JsonKind::object) return nullptr;
  const auto members = children(object);
  const auto found =
      std::lower_bound(members.begin(), members.end(), name,
                       [this](std::uint32_t index, std::string_view n) { return nodes_[index].key < n; });
  return found != members.end() && nodes_[*found].key == name ? &nodes_[*found] : nullptr;
}

}  // namespace stet::identify
