#include "identify/media_type.hpp"

#include "identify/key_field.hpp"

namespace stet::identify {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string essence(std::string_view content_type) {
  return lower(trim(content_type.substr(0, content_type.find(';'))));
}

bool is_json(std::string_view essence) {
  return essence == "application/json" || essence.ends_with("+json");
}

std::optional<std::string> parameter(std::string_view content_type, std::string_view name) {
  std::optional<std::string> found;
  std::size_t at = content_type.find(';');
  while (at != std::string_view::npos && at < content_type.size()) {
    std::string_view rest = trim(content_type.substr(at + 1));
    if (rest.empty()) break;
    const auto equals = rest.find_first_of("=;");
    if (equals == std::string_view::npos || rest[equals] == ';') return std::nullopt;
    const std::string here = lower(trim(rest.substr(0, equals)));
    rest = rest.substr(equals + 1);
    std::string value;
    std::size_t i = 0;
    if (rest.starts_with('"')) {
      for (i = 1; i < rest.size() && rest[i] != '"'; ++i) {
        if (rest[i] == '\\' && ++i == rest.size()) return std::nullopt;
        value.push_back(rest[i]);
      }
      if (i >= rest.size()) return std::nullopt;
      ++i;
      const std::string_view after = rest.substr(i, rest.find(';', i) - i);
      if (!trim(after).empty()) return std::nullopt;
    } else {
      value = trim(rest.substr(0, rest.find(';')));
    }
    if (here == name) {
      if (found) return std::nullopt;
      found = std::move(value);
    }
    const auto next = rest.find(';', i);
    if (next == std::string_view::npos) break;
    at = static_cast<std::size_t>(rest.data() - content_type.data()) + next;
  }
  return found;
}

}  // namespace stet::identify
