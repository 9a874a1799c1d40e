#include "identify/natural_key.hpp"

#include "core/digest.hpp"
#include "http/target.hpp"
#include "identify/decimal.hpp"
#include "identify/json_pointer.hpp"
#include "identify/key_field.hpp"
#include "identify/percent.hpp"

namespace stet::identify {
namespace {

using Value = Expected<std::string, Refusal>;

constexpr std::string_view kNatural = "natural|";
constexpr std::string_view kHeader = "header|";
constexpr std::string_view kHashed = "sha256:";

Value missing(std::string detail) {
  return unexpected(Refusal{Problem::key_missing, std::move(detail)});
}
Value invalid(std::string detail) {
  return unexpected(Refusal{Problem::key_invalid, std::move(detail)});
}

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

Value from_json(const std::string& pointer, const http::Fields& fields, std::string_view body) {
  const std::string where = "the member at " + quoted(pointer) + " of the JSON body";
  const std::string wanted =
      "This route takes its idempotency key from " + where + ", a string or an integer";
  if (fields.count("Content-Encoding") != 0) {
    return missing(wanted + ", and cannot read a body with a Content-Encoding. Send the body without it.");
  }
  thread_local JsonDocument document;
  if (!document.parse(body)) {
    return missing(wanted + ". The body is not valid JSON, or has a member twice.");
  }
  const JsonNode* const node = find(document, pointer);
  if (node == nullptr) return missing(wanted + ". There is no such member.");
  switch (node->kind) {
    case JsonKind::null:
      return missing(wanted + ". It is null.");
    case JsonKind::string:
      if (node->text.empty()) return invalid(wanted + ". It is empty.");
      return std::string(node->text);
    case JsonKind::number: {
      if (auto digits = whole_number(node->text, kMaxKey)) return std::move(*digits);
      std::string exact;
      // A whole number too long to write out still has one exact spelling.
      if (append_decimal(exact, node->text) && exact.find("e-") == std::string::npos) return exact;
      return invalid(wanted + ". It is a number with a fraction or an absurd exponent.");
    }
    default:
      return invalid(wanted + ". It is neither.");
  }
}

Value from_path(std::size_t segment, std::string_view path) {
  const std::string wanted = "This route takes its idempotency key from segment " + std::to_string(segment) +
                             " of the path (counted from 1)";
  const auto normal = http::normalise_path(path);
  if (!normal)
    return invalid(wanted +
                   ". The path has a percent sign without two hexadecimal digits behind it, or %00.");
  std::size_t end = 0;  // of the segment; the path begins with a slash
  for (std::size_t i = 0; i < segment; ++i) {
    if (end >= normal->size()) return missing(wanted + ". The path is shorter.");
    end = std::min(normal->find('/', end + 1), normal->size());
  }
  std::string prefix = normal->substr(0, end);
  if (segment == 0 || prefix.ends_with('/')) return missing(wanted + ". That segment is empty.");
  return prefix;
}

Value from_query(const std::string& parameter, std::string_view query) {
  const std::string wanted =
      "This route takes its idempotency key from the query parameter " + quoted(parameter);
  const auto values = http::query_values(query, parameter);
  if (!values)
    return invalid(wanted + ". The query has a percent sign without two hexadecimal digits behind it.");
  if (values->empty()) return missing(wanted + ". It is not there.");
  if (values->size() > 1) return invalid(wanted + ". It is there more than once.");
  if (values->front().empty()) return invalid(wanted + ". It is empty.");
  return values->front();
}

bool is_printable(std::string_view text) {
  for (const char c : text) {
    if (c < 0x20 || c > 0x7e) return false;
  }
  return true;
}

std::string hash(std::string_view text) {
  return std::string(kHashed) + to_hex(sha256(text));
}

}  // namespace

Expected<std::string, Refusal> find_natural_key(const config::Route& route, const http::RequestHead& head,
                                                std::string_view body) {
  const auto& from = route.key_from;
  auto value = [&]() -> Value {
    switch (from.kind) {
      case config::KeySource::Kind::json:
        return from_json(from.json_pointer, head.fields, body);
      case config::KeySource::Kind::path:
        return from_path(from.segment, head.path());
      case config::KeySource::Kind::query:
        return from_query(from.parameter, head.query());
      case config::KeySource::Kind::header:
        break;
    }
    return missing("This route has no source for natural keys.");
  }();
  if (!value) return value;

  std::string space(kNatural);
  append_percent_encoded(space, route.name, "|,;\"\\");
  space.push_back('|');
  append_percent_encoded(space, from.text, "|,;\"\\");
  space.push_back('|');
  // A value that begins like a hash is hashed too, so that nobody can name another's hash.
  const bool as_is =
      is_printable(*value) && !value->starts_with(kHashed) && space.size() + value->size() <= kMaxKey;
  if (as_is) return space + *value;
  if (space.size() + kHashed.size() + 64 <= kMaxKey) return space + hash(*value);
  return std::string(kNatural) + to_hex(sha256_parts({space, *value}));
}

std::string stored_header_key(std::string key) {
  if (!key.starts_with(kNatural) && !key.starts_with(kHeader)) return key;
  std::string moved = std::string(kHeader) + key;
  return moved.size() <= kMaxKey ? moved : std::string(kHeader) + hash(key);
}

std::string_view header_key_of(std::string_view stored) {
  if (!stored.starts_with(kHeader)) return stored;
  const std::string_view key = stored.substr(kHeader.size());
  return key.starts_with(kHashed) ? stored : key;
}

}  // namespace stet::identify
