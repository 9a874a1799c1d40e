#include "identify/recipe.hpp"

#include <algorithm>

#include "core/digest.hpp"
#include "http/target.hpp"
#include "identify/hmac.hpp"
#include "identify/media_type.hpp"
#include "identify/percent.hpp"

namespace stet::identify {
namespace {

constexpr std::string_view kVersion = "v1";

std::vector<std::string> sorted(std::vector<std::string> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

void append_list(std::string& out, std::string_view name, const std::vector<std::string>& list) {
  if (list.empty()) return;
  out.append(" ").append(name);
  char separator = ':';
  for (const auto& item : list) {
    out.push_back(separator);
    append_percent_encoded(out, item, ",");
    separator = ',';
  }
}

bool read_list(std::string_view text, std::vector<std::string>& list) {
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    auto item = http::percent_decode(text.substr(at, end - at));
    if (!item) return false;
    list.push_back(std::move(*item));
    at = end + 1;
  }
  return true;
}

bool read_word(std::string_view word, RecipeParts& parts) {
  const auto colon = word.find(':');
  if (colon == std::string_view::npos) return false;
  const auto name = word.substr(0, colon);
  const auto value = word.substr(colon + 1);
  if (name == "hmac") {
    parts.key_id = value;
    return true;
  }
  if (name == "only") return read_list(value, parts.only);
  if (name == "ignore") return read_list(value, parts.ignore);
  if (name == "headers") return read_list(value, parts.headers);
  return false;
}

}  // namespace

RecipeParts recipe_parts(const config::FingerprintSettings& settings) {
  RecipeParts parts;
  parts.only = sorted(settings.only);
  parts.ignore = sorted(settings.ignore);
  for (const auto& name : settings.headers) parts.headers.push_back(lower(name));
  parts.headers = sorted(std::move(parts.headers));
  if (!settings.secrets.empty()) parts.key_id = key_id(settings.secrets.front());
  return parts;
}

Recipe write_recipe(const RecipeParts& parts) {
  Recipe recipe(kVersion);
  if (!parts.key_id.empty()) recipe.append(" hmac:").append(parts.key_id);
  append_list(recipe, "only", parts.only);
  append_list(recipe, "ignore", parts.ignore);
  append_list(recipe, "headers", parts.headers);
  return recipe;
}

std::optional<RecipeParts> read_recipe(std::string_view text) {
  RecipeParts parts;
  std::string_view rest = text;
  if (!rest.starts_with(kVersion)) return std::nullopt;
  rest.remove_prefix(kVersion.size());
  while (!rest.empty()) {
    if (rest.front() != ' ') return std::nullopt;
    rest.remove_prefix(1);
    const auto end = std::min(rest.find(' '), rest.size());
    if (!read_word(rest.substr(0, end), parts)) return std::nullopt;
    rest.remove_prefix(end);
  }
  // A line that we would not write like this is not ours to interpret.
  if (write_recipe(parts) != text) return std::nullopt;
  return parts;
}

std::string key_id(std::string_view secret) {
  const Digest digest = hmac_sha256(secret, {"stet fingerprint key"});
  return to_hex(digest.data(), 8);
}

}  // namespace stet::identify
