#include "probe/json.hpp"

#include <boost/json.hpp>

namespace stet::probe {
namespace {

namespace json = boost::json;

std::optional<json::value> parse(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error);
  if (error) return std::nullopt;
  return value;
}

void collect(const json::value& value, std::vector<std::string>& into) {
  if (const json::string* text = value.if_string()) {
    into.emplace_back(*text);
  } else if (value.is_number()) {
    into.push_back(json::serialize(value));
  } else if (const json::array* list = value.if_array()) {
    for (const json::value& item : *list) collect(item, into);
  } else if (const json::object* object = value.if_object()) {
    for (const auto& member : *object) collect(member.value(), into);
  }
}

// A cursor over a text that is known to be JSON.
class Speller {
 public:
  explicit Speller(std::string_view text) : text_(text) {}

  std::string value() {
    skip_space();
    if (peek() == '{') return object();
    if (peek() == '[') return list();
    if (peek() == '"') return std::string(string());
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos)
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  std::string_view string() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string object() {
    std::string out;
    ++at_;
    for (skip_space(); peek() != '}' && at_ < text_.size(); skip_space()) {
      if (peek() == ',') {
        ++at_;
        continue;
      }
      std::string member(string());
      skip_space();
      ++at_;  // the colon
      member += " :  " + value();
      out = out.empty() ? member : member + " ,\n " + out;
    }
    ++at_;
    return "{ " + out + " }";
  }

  std::string list() {
    std::string out;
    ++at_;
    for (skip_space(); peek() != ']' && at_ < text_.size(); skip_space()) {
      if (peek() == ',') {
        ++at_;
        continue;
      }
      out += (out.empty() ? "" : " , ") + value();
    }
    ++at_;
    return "[ " + out + " ]";
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<bool> json_flag(std::string_view text, std::string_view member) {
  const auto value = parse(text);
  if (!value || !value->is_object()) return std::nullopt;
  const json::value* found = value->get_object().if_contains({member.data(), member.size()});
  if (found == nullptr || !found->is_bool()) return std::nullopt;
  return found->get_bool();
}

std::vector<std::string> json_scalars(std::string_view text) {
  std::vector<std::string> values;
  if (const auto value = parse(text)) collect(*value, values);
  return values;
}

bool is_json_text(std::string_view text) {
  return parse(text).has_value();
}

Expected<std::int64_t, std::string> json_count(std::string_view text, std::string_view pointer) {
  const auto value = parse(text);
  if (!value) return tl::unexpected(std::string("the answer is not JSON"));
  boost::system::error_code error;
  const json::value* found = value->find_pointer({pointer.data(), pointer.size()}, error);
  if (found == nullptr) return tl::unexpected("nothing stands at the pointer '" + std::string(pointer) + "'");
  if (const auto* list = found->if_array()) return static_cast<std::int64_t>(list->size());
  if (const auto* object = found->if_object()) return static_cast<std::int64_t>(object->size());
  const auto number = json::try_value_to<std::int64_t>(*found);
  if (number.has_value()) return *number;
  return tl::unexpected("what stands at '" + std::string(pointer) + "' is neither a whole number nor a list");
}

std::optional<std::string> respell(std::string_view text) {
  if (!is_json_text(text)) return std::nullopt;
  return Speller(text).value();
}

std::vector<std::string> altered_json(std::string_view text) {
  std::vector<std::string> variants;
  const auto value = parse(text);
  if (!value) return variants;
  if (const json::object* object = value->if_object()) {
    for (const auto& member : *object) {
      json::object changed = *object;
      json::value& place = changed[member.key()];
      if (place.is_int64()) {
        place = place.get_int64() + 1;
      } else if (place.is_double()) {
        place = place.get_double() + 1;
      } else {
        continue;
      }
      variants.push_back(json::serialize(changed));
    }
    for (const auto& member : *object) {
      if (!member.value().is_string()) continue;
      json::object changed = *object;
      changed[member.key()].as_string() += "x";
      variants.push_back(json::serialize(changed));
    }
    json::object more = *object;
    more["stet_probe"] = 1;
    variants.push_back(json::serialize(more));
  }
  return variants;
}

std::string json_string(std::string_view text) {
  // Boost.JSON writes bytes as they are; a report must be valid UTF-8 whatever an API answered.
  std::string clean;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
    const std::string_view part = text.substr(at, size);
    boost::system::error_code error;
    const std::string quoted = "\"" + std::string(part) + "\"";
    if (lead < 0x80) {
      clean += text[at];
    } else if (size != 0 && part.size() == size && !(json::parse(quoted, error), error)) {
      clean += part;
    } else {
      clean += "\xef\xbf\xbd";
      ++at;
      continue;
    }
    at += size;
  }
  return json::serialize(json::string(clean));
}

}  // namespace stet::probe
