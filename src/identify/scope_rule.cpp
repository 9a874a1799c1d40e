#include "identify/scope_rule.hpp"

#include <algorithm>
#include <tuple>

#include "http/target.hpp"
#include "identify/media_type.hpp"
#include "identify/percent.hpp"

namespace stet::identify {
namespace {

using config::ScopePart;
using Kind = ScopePart::Kind;

struct Word {
  std::string_view text;
  Kind kind;
  enum class Name : std::uint8_t { none, needed } name;
};
constexpr Word kWords[] = {
    {"credentials", Kind::credentials, Word::Name::none},
    {"header", Kind::header, Word::Name::needed},
    {"cookie", Kind::cookie, Word::Name::needed},
    {"jwt", Kind::jwt, Word::Name::needed},
    {"auth", Kind::auth, Word::Name::none},
    {"client-cert", Kind::client_cert, Word::Name::none},
    {"none", Kind::none, Word::Name::none},
};

std::optional<ScopePart> parse_part(std::string_view text) {
  const auto colon = text.find(':');
  for (const Word& word : kWords) {
    if (text.substr(0, colon) != word.text) continue;
    if ((colon != std::string_view::npos) != (word.name == Word::Name::needed)) return std::nullopt;
    if (colon == std::string_view::npos) return ScopePart{word.kind, {}};
    auto name = http::percent_decode(text.substr(colon + 1));
    if (!name || name->empty()) return std::nullopt;
    return ScopePart{word.kind, std::move(*name)};
  }
  return std::nullopt;
}

}  // namespace

std::vector<ScopePart> settled(const std::vector<ScopePart>& parts) {
  std::vector<ScopePart> out(parts);
  for (ScopePart& part : out) {
    if (part.kind == Kind::header) part.name = lower(part.name);
  }
  const auto key = [](const ScopePart& part) { return std::tie(part.kind, part.name); };
  std::sort(out.begin(), out.end(), [&key](const auto& a, const auto& b) { return key(a) < key(b); });
  out.erase(
      std::unique(out.begin(), out.end(), [&key](const auto& a, const auto& b) { return key(a) == key(b); }),
      out.end());
  return out;
}

std::string rule_text(const ScopePart& part) {
  for (const Word& word : kWords) {
    if (word.kind != part.kind) continue;
    std::string text(word.text);
    if (word.name == Word::Name::none) return text;
    text.push_back(':');
    append_percent_encoded(text, part.name, "");
    return text;
  }
  return {};
}

std::string rule_text(const std::vector<ScopePart>& parts) {
  if (parts.empty()) return std::string(kDefaultRule);
  std::string text;
  for (const ScopePart& part : parts) {
    if (!text.empty()) text.push_back(' ');
    text += rule_text(part);
  }
  return text;
}

std::optional<std::vector<ScopePart>> parse_rule(std::string_view text) {
  std::vector<ScopePart> parts;
  if (text == kDefaultRule) return parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(' ', at), text.size());
    auto part = parse_part(text.substr(at, end - at));
    if (!part) return std::nullopt;
    parts.push_back(std::move(*part));
    at = end + 1;
  }
  return settled(parts);
}

}  // namespace stet::identify
