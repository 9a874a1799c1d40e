// Which key a request carries (http.md, "The key").

#include <algorithm>

#include "identify/identify.hpp"
#include "identify/key_field.hpp"
#include "identify/natural_key.hpp"

namespace stet::identify {
namespace {

constexpr std::string_view kAdvice =
    "Send one key of 1 to 255 visible ASCII characters, such as a UUID, and the same one with every retry";

std::string or_list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::string spell(config::KeySpelling spelling, const std::string& key) {
  return spelling == config::KeySpelling::quoted || !has_bare_form(key) ? quoted_form(key) : key;
}

std::variant<Key, NoKey, Refusal> header_key(const config::Route& route, const http::RequestHead& head) {
  // Tried in order (docs/configuration.md): the first header that is there has the key, whatever the others
  // say.
  const auto there =
      std::ranges::find_if(route.key_headers, [&](const auto& h) { return head.fields.count(h) > 0; });
  if (there == route.key_headers.end()) {
    if (route.key != config::KeyMode::required) return NoKey{};
    return Refusal{Problem::key_missing, "This route needs the header " + or_list(route.key_headers) + ". " +
                                             std::string(kAdvice) + "."};
  }
  const std::string& name = *there;
  const auto lines = head.fields.all(name);
  if (lines.size() > 1) {
    return Refusal{Problem::key_invalid,
                   name + " stands in more than one line. " + std::string(kAdvice) + "."};
  }
  const std::string_view line = lines.front();
  auto key = parse_key_field(line);
  if (!key) {
    return Refusal{Problem::key_invalid,
                   "In " + name + " " + key.error() + ". " + std::string(kAdvice) + "."};
  }
  std::string spelling = route.key_spelling == config::KeySpelling::as_is ? std::string(trim(line))
                                                                          : spell(route.key_spelling, *key);
  return Key{stored_header_key(std::move(*key)), std::move(spelling)};
}

}  // namespace

std::string upstream_key(std::string_view stored, config::KeySpelling spelling) {
  return spell(spelling, std::string(header_key_of(stored)));
}

std::variant<Key, NoKey, Refusal> find_key(const config::Route& route, const http::RequestHead& head,
                                           std::string_view body) {
  if (route.key == config::KeyMode::off) return NoKey{};
  if (route.key_from.kind == config::KeySource::Kind::header) return header_key(route, head);
  auto key = find_natural_key(route, head, body);
  if (!key) return std::move(key.error());
  std::string spelling = spell(route.key_spelling, *key);
  return Key{std::move(*key), std::move(spelling)};
}

}  // namespace stet::identify
