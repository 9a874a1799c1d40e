#include "config/route_values.hpp"

#include <algorithm>
#include <charconv>

#include "config/route_table.hpp"
#include "http/target.hpp"

namespace stet::config {
namespace {

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

// Fields that are the framing's, the routing's or the gateway's own: none of them can carry a key.
std::string key_header_error(const std::string& name) {
  if (!is_token(name)) return quoted(name) + " is no header name (RFC 9110 section 5.1)";
  const std::string small = lower(name);
  for (const std::string_view taken :
       {"host", "connection", "content-length", "transfer-encoding", "content-type", "expect", "te",
        "trailer", "upgrade", "via", "authorization", "cookie"})
    if (small == taken) return quoted(name) + " has a meaning of its own in HTTP and cannot carry the key";
  if (small.starts_with("stet-")) return quoted(name) + " is a header of the gateway's own";
  return {};
}

std::string parse_key_source(const std::string& text, KeySource& out) {
  KeySource source;
  source.text = text;
  if (text == "header") {
    source.kind = KeySource::Kind::header;
  } else if (text.starts_with("json:")) {
    source.kind = KeySource::Kind::json;
    source.json_pointer = text.substr(5);
    if (std::string error = pointer_error(source.json_pointer); !error.empty()) return error;
  } else if (text.starts_with("path:")) {
    source.kind = KeySource::Kind::path;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 5, end, source.segment);
    if (error != std::errc{} || stop != end || source.segment == 0)
      return quoted(text) + ": segments count from 1, such as \"path:2\" for the 42 of /orders/42";
  } else if (text.starts_with("query:")) {
    source.kind = KeySource::Kind::query;
    source.parameter = text.substr(6);
    if (source.parameter.empty()) return quoted(text) + " names no parameter: \"query:ref\" was meant?";
  } else {
    return quoted(text) +
           " is no source of a key: \"header\", \"json:/pointer\", \"path:N\" or \"query:name\" was meant";
  }
  out = std::move(source);
  return {};
}

std::string parse_scope_part(const std::string& text, ScopePart& out) {
  using Kind = ScopePart::Kind;
  static constexpr std::array<std::string_view, 4> kPlain{"credentials", "auth", "client-cert", "none"};
  static constexpr std::array<std::string_view, 3> kNamed{"header", "cookie", "jwt"};
  static constexpr std::array<std::string_view, 7> kAll{
      "credentials", "header:NAME", "cookie:NAME", "jwt:CLAIM", "auth", "client-cert", "none"};
  if (text == "credentials") return out = {Kind::credentials, {}}, "";
  if (text == "auth") return out = {Kind::auth, {}}, "";
  if (text == "none") return out = {Kind::none, {}}, "";
  if (text == "client-cert")
    return "\"client-cert\" needs TLS on the listener, which is not in this release; let the ingress set a "
           "header and "
           "use \"header:NAME\"";
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string name = colon == text.npos ? std::string() : text.substr(colon + 1);
  if (std::find(kNamed.begin(), kNamed.end(), kind) == kNamed.end()) {
    std::vector<std::string_view> known(kPlain.begin(), kPlain.end());
    known.insert(known.end(), kNamed.begin(), kNamed.end());
    const std::string_view near = nearest(kind, known);
    return quoted(text) + " is no part of a scope; " +
           (near.empty() ? "" : "did you mean " + quoted(near) + "? Possible are ") + alternatives(kAll) +
           (near.empty() ? " was meant" : "");
  }
  if (name.empty()) return quoted(text) + " names nothing: \"" + kind + ":NAME\" was meant";
  if (kind != "jwt" && !is_token(name)) return quoted(name) + " is no name of a " + kind;
  if (kind == "header") out = {Kind::header, name};
  if (kind == "cookie") out = {Kind::cookie, name};
  if (kind == "jwt") out = {Kind::jwt, name};
  return {};
}

}  // namespace

void read_match(Reading& reading, const Value& value, RouteDraft& draft) {
  if (!reading.is(value, Value::Kind::string, "\"POST /charges\"")) return;
  draft.route.name = value.text;
  auto match = parse_match(value.text);
  if (!match) return reading.error(value.place, match.error());
  draft.route.match = std::move(*match);
}

void read_key_header(Reading& reading, const Value& value, RouteDraft& draft) {
  const auto said = read_strings(reading, value, Shape::one_or_list);
  if (!said) return;
  if (said->empty()) return reading.error(value.place, "an empty list; at least one name was meant");
  std::vector<std::string> names;
  for (const Said& one : *said) {
    const auto same = [&](const std::string& name) { return lower(name) == lower(one.text); };
    if (std::string error = key_header_error(one.text); !error.empty())
      reading.error(one.place, error);
    else if (std::any_of(names.begin(), names.end(), same))
      reading.error(one.place, quoted(one.text) + " is named twice");
    else
      names.push_back(one.text);
  }
  if (!names.empty()) draft.route.key_headers = std::move(names);
}

void read_key_from(Reading& reading, const Value& value, RouteDraft& draft) {
  if (!reading.is(value, Value::Kind::string, "\"json:/invoice_number\"")) return;
  if (std::string error = parse_key_source(value.text, draft.route.key_from); !error.empty())
    reading.error(value.place, error);
}

void read_scope(Reading& reading, const Value& value, RouteDraft& draft) {
  const auto said = read_strings(reading, value, Shape::list);
  if (!said) return;
  std::vector<ScopePart> parts;
  for (const Said& one : *said) {
    ScopePart part;
    if (std::string error = parse_scope_part(one.text, part); !error.empty()) {
      reading.error(one.place, error);
      continue;
    }
    const auto same = [&](const ScopePart& p) {
      return p.kind == part.kind &&
             (part.kind == ScopePart::Kind::header ? lower(p.name) == lower(part.name) : p.name == part.name);
    };
    if (std::any_of(parts.begin(), parts.end(), same))
      reading.error(one.place, quoted(one.text) + " is named twice");
    else if (part.kind == ScopePart::Kind::none && said->size() > 1)
      reading.error(one.place,
                    "\"none\" is one scope for everybody and cannot be combined with another part");
    else
      parts.push_back(std::move(part));
  }
  draft.route.scope = std::move(parts);
}

void read_url_text(Reading& reading, const Value& value, std::string& out) {
  if (!reading.is(value, Value::Kind::string, "\"http://127.0.0.1:4000/outcome\"")) return;
  const auto url = parse_url(value.text, UrlQuery::allowed);
  if (!url) return reading.error(value.place, url.error());
  out = value.text;
}

void read_statuses(Reading& reading, const Value& value, RouteDraft& draft, StatusMeaning meaning) {
  if (value.kind != Value::Kind::array) {
    reading.error(value.place, std::string(article_and_name(value.kind)) +
                                   " where a list of statuses and classes was meant: [500] or [\"5xx\"]");
    return;
  }
  StatusList list{meaning, {}};
  for (const Value& item : value.items) {
    int status = 0;
    if (item.kind == Value::Kind::integer && item.integer >= 200 && item.integer <= 599) {
      status = static_cast<int>(item.integer);
    } else if (item.kind == Value::Kind::string && item.text.size() == 3 && item.text[0] >= '2' &&
               item.text[0] <= '5' && item.text.ends_with("xx")) {
      status = item.text[0] - '0';
    } else if (item.kind == Value::Kind::string && item.text.size() == 3 &&
               item.text.find_first_not_of("0123456789") == item.text.npos) {
      reading.error(item.place, "a status is a number, without quotes: " + item.text);
      continue;
    } else {
      reading.error(item.place, "a final status (200 to 599) or a class (\"2xx\" to \"5xx\") was meant");
      continue;
    }
    if (std::find(list.statuses.begin(), list.statuses.end(), status) != list.statuses.end()) {
      reading.error(item.place, "named twice");
    } else if (meaning == StatusMeaning::release && (status == 2 || status / 100 == 2)) {
      reading.error(item.place, "a 2xx says that it was done; released, the retry would do it again");
    } else {
      list.statuses.push_back(status);
    }
  }
  draft.lists.insert_or_assign(reading.key, std::move(list));
}

void read_fingerprint_secrets(Reading& reading, const Value& value, RouteDraft& draft) {
  const auto said = read_strings(reading, value, Shape::one_or_list);
  if (!said) return;
  std::vector<std::string> secrets;
  for (const Said& one : *said)
    if (auto secret = resolve(reading, one, Publicity::secret)) secrets.push_back(std::move(*secret));
  draft.route.fingerprint.secrets = std::move(secrets);
}

}  // namespace stet::config
