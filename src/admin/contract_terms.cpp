#include "admin/contract_terms.hpp"

#include <algorithm>
#include <array>

namespace stet::admin {
namespace {

std::string_view kind_name(config::ScopePart::Kind kind) {
  using Kind = config::ScopePart::Kind;
  switch (kind) {
    case Kind::credentials:
      return "credentials";
    case Kind::header:
      return "header";
    case Kind::cookie:
      return "cookie";
    case Kind::jwt:
      return "jwt";
    case Kind::auth:
      return "auth";
    case Kind::client_cert:
      return "client-cert";
    case Kind::none:
      return "none";
  }
  return "";
}

std::string caller_part(const config::ScopePart& part) {
  using Kind = config::ScopePart::Kind;
  switch (part.kind) {
    case Kind::credentials:
      return "your credentials";
    case Kind::header:
      return "the account that the entrance of this API finds";
    case Kind::cookie:
      return "your session";
    case Kind::jwt:
      return "the claim `" + part.name + "` of your token";
    case Kind::auth:
      return "who you are to this API";
    case Kind::client_cert:
      return "your certificate";
    case Kind::none:
      break;
  }
  return "everybody: keys are shared by all callers";
}

std::string joined(const std::vector<std::string>& parts, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " " + std::string(last) + " " : ", ";
    text += parts[i];
  }
  return text;
}

}  // namespace

std::string_view name(config::KeyMode mode) {
  switch (mode) {
    case config::KeyMode::off:
      return "off";
    case config::KeyMode::optional:
      return "optional";
    case config::KeyMode::required:
      return "required";
  }
  return "";
}

std::vector<KeyRule> key_rules(const config::Route& route) {
  const std::vector<std::string> writes{"POST", "PUT", "PATCH", "DELETE"};
  std::vector<KeyRule> rules;
  for (const std::string& method : route.match ? route.match->methods : writes) {
    const config::KeyMode mode = route.key_mode(method);
    const auto same =
        std::find_if(rules.begin(), rules.end(), [&](const KeyRule& rule) { return rule.mode == mode; });
    if (same == rules.end()) {
      rules.push_back({mode, {method}});
    } else {
      same->methods.push_back(method);
    }
  }
  return rules;
}

bool takes_keys(const config::Route& route) {
  const auto rules = key_rules(route);
  return std::any_of(rules.begin(), rules.end(),
                     [](const KeyRule& rule) { return rule.mode != config::KeyMode::off; });
}

StatusLists status_lists(const StatusTable& table) {
  StatusLists lists;
  const auto list_of = [&](StatusMeaning meaning) -> std::vector<std::string>& {
    if (meaning == StatusMeaning::record) return lists.recorded;
    return meaning == StatusMeaning::release ? lists.released : lists.unknown;
  };
  for (int hundreds = 2; hundreds <= 5; ++hundreds) {
    std::array<int, 3> counts{};
    for (int rest = 0; rest < 100; ++rest)
      ++counts[static_cast<std::size_t>(table.meaning(hundreds * 100 + rest))];
    const auto most = std::max_element(counts.begin(), counts.end()) - counts.begin();
    const auto usual = static_cast<StatusMeaning>(most);
    list_of(usual).push_back(std::to_string(hundreds) + "xx");
    for (int status = hundreds * 100; status < hundreds * 100 + 100; ++status) {
      if (table.meaning(status) != usual) list_of(table.meaning(status)).push_back(std::to_string(status));
    }
  }
  return lists;
}

std::string key_place(const config::Route& route) {
  using Kind = config::KeySource::Kind;
  switch (route.key_from.kind) {
    case Kind::json:
      return "the member `" + route.key_from.json_pointer + "` of the JSON body";
    case Kind::path:
      return "segment " + std::to_string(route.key_from.segment) + " of the path";
    case Kind::query:
      return "the query parameter `" + route.key_from.parameter + "`";
    case Kind::header:
      break;
  }
  std::vector<std::string> names;
  for (const std::string& header : route.key_headers) names.push_back("`" + header + "`");
  return "the header " + joined(names, "or");
}

std::string caller_words(const config::Route& route) {
  if (route.scope.empty()) {
    return "your credentials (`Authorization`, `X-Api-Key` and `Api-Key`, exactly as you send them)";
  }
  std::vector<std::string> parts;
  for (const config::ScopePart& part : route.scope) parts.push_back(caller_part(part));
  return joined(parts, "and");
}

std::vector<std::string> scope_kinds(const config::Route& route) {
  std::vector<std::string> kinds;
  for (const config::ScopePart& part : route.scope) kinds.emplace_back(kind_name(part.kind));
  return kinds;
}

std::string duration_words(milliseconds time) {
  if (time == kForever) return "forever";
  struct Unit {
    std::int64_t ms;
    std::string_view name;
  };
  constexpr std::array<Unit, 5> kUnits{
      {{86'400'000, "day"}, {3'600'000, "hour"}, {60'000, "minute"}, {1'000, "second"}, {1, "millisecond"}}};
  for (const Unit& unit : kUnits) {
    // One day reads better as 24 hours: that is how a deadline is counted.
    if (time.count() % unit.ms != 0 || (unit.ms == 86'400'000 && time.count() / unit.ms < 2)) continue;
    const std::int64_t n = time.count() / unit.ms;
    return std::to_string(n) + " " + std::string(unit.name) + (n == 1 ? "" : "s");
  }
  return "0 seconds";
}

}  // namespace stet::admin
