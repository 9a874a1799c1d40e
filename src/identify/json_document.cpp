#include "identify/json_document.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <functional>
#include <utility>

namespace stet::identify {

using boost::json::error_code;

// Receives the events of the parser. A refusal of its own is reported like a syntax error.
class JsonBuilder {
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  using Text = boost::json::string_view;

  JsonBuilder(JsonDocument& document, std::string_view text) : document_(document), text_(text) {}

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_array_begin(error_code& ec) { return open(JsonKind::array, ec); }
  bool on_object_begin(error_code& ec) { return open(JsonKind::object, ec); }
  bool on_array_end(std::size_t, error_code&) {
    close();
    return true;
  }
  bool on_object_end(std::size_t, error_code& ec) { return sort_members(close()) || refuse(ec); }

  bool on_key_part(Text piece, std::size_t, error_code&) {
    gather(piece);
    return true;
  }
  bool on_key(Text piece, std::size_t, error_code&) {
    key_ = finish(piece);
    return true;
  }
  bool on_string_part(Text piece, std::size_t, error_code&) {
    gather(piece);
    return true;
  }
  bool on_string(Text piece, std::size_t, error_code& ec) { return add(JsonKind::string, finish(piece), ec); }

  // The parser sees the whole text at once, so a number comes in one piece.
  bool on_number_part(Text, error_code& ec) { return refuse(ec); }
  bool on_int64(std::int64_t, Text text, error_code& ec) { return number(text, ec); }
  bool on_uint64(std::uint64_t, Text text, error_code& ec) { return number(text, ec); }
  bool on_double(double, Text text, error_code& ec) { return number(text, ec); }

  bool on_bool(bool value, error_code& ec) { return add(value ? JsonKind::yes : JsonKind::no, {}, ec); }
  bool on_null(error_code& ec) { return add(JsonKind::null, {}, ec); }
  bool on_comment_part(Text, error_code& ec) { return refuse(ec); }
  bool on_comment(Text, error_code& ec) { return refuse(ec); }

 private:
  static bool refuse(error_code& ec) {
    ec = boost::json::error::syntax;
    return false;
  }

  bool add(JsonKind kind, std::string_view text, error_code& ec) {
    if (document_.nodes_.size() == JsonDocument::kMaxValues) return refuse(ec);
    if (!document_.open_.empty())
      document_.pending_.push_back(static_cast<std::uint32_t>(document_.nodes_.size()));
    document_.nodes_.push_back({.key = std::exchange(key_, {}), .text = text, .kind = kind});
    return true;
  }

  bool number(Text text, error_code& ec) { return add(JsonKind::number, {text.data(), text.size()}, ec); }

  bool open(JsonKind kind, error_code& ec) {
    const auto index = static_cast<std::uint32_t>(document_.nodes_.size());
    if (!add(kind, {}, ec)) return false;
    document_.open_.push_back(index);
    document_.marks_.push_back(static_cast<std::uint32_t>(document_.pending_.size()));
    return true;
  }

  JsonNode& close() {
    JsonNode& node = document_.nodes_[document_.open_.back()];
    const std::uint32_t mark = document_.marks_.back();
    auto& pending = document_.pending_;
    node.first_child = static_cast<std::uint32_t>(document_.children_.size());
    node.children = static_cast<std::uint32_t>(pending.size()) - mark;
    document_.children_.insert(document_.children_.end(), pending.begin() + mark, pending.end());
    pending.resize(mark);
    document_.open_.pop_back();
    document_.marks_.pop_back();
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

  void gather(Text piece) {
    auto& store = document_.unescaped_;
    // No text is longer unescaped than escaped, so this one reservation is never outgrown.
    if (store.capacity() < text_.size()) store.reserve(text_.size());
    if (!gathering_) {
      gathering_ = true;
      gathered_from_ = store.size();
    }
    store.append(piece.data(), piece.size());
  }

  std::string_view finish(Text piece) {
    const std::less_equal<const char*> not_after;
    const bool in_place = not_after(text_.data(), piece.data()) &&
                          not_after(piece.data() + piece.size(), text_.data() + text_.size());
    if (!gathering_ && in_place) return {piece.data(), piece.size()};
    gather(piece);
    gathering_ = false;
    return std::string_view(document_.unescaped_).substr(gathered_from_);
  }

  JsonDocument& document_;
  std::string_view text_;
  std::string_view key_;
  bool gathering_ = false;
  std::size_t gathered_from_ = 0;
};

void JsonDocument::clear() {
  // One large body must not hold its memory for ever.
  if (nodes_.capacity() > 4096 || unescaped_.capacity() > (std::size_t{64} << 10)) *this = JsonDocument();
  nodes_.clear();
  children_.clear();
  open_.clear();
  pending_.clear();
  marks_.clear();
  unescaped_.clear();
}

bool JsonDocument::parse(std::string_view text) {
  clear();
  boost::json::parse_options options;
  options.max_depth = kMaxDepth;
  boost::json::basic_parser<JsonBuilder> parser(options, *this, text);
  error_code ec;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), ec);
  return !ec && used == text.size() && parser.done();
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
