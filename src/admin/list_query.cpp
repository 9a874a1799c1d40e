#include "admin/list_query.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

#include "admin/operations_json.hpp"
#include "http/target.hpp"

namespace stet::admin {
namespace {

constexpr std::size_t kMostAtOnce = 1000;

bool set_state(ListQuery& query, const std::string& value) {
  query.filter.state = parse_state(value);
  return query.filter.state.has_value();
}

bool set_created_before(ListQuery& query, const std::string& value) {
  query.filter.created_before = parse_rfc3339(value);
  return query.filter.created_before.has_value();
}

bool set_limit(ListQuery& query, const std::string& value) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), query.limit);
  return error == std::errc() && end == value.data() + value.size() && query.limit >= 1 &&
         query.limit <= kMostAtOnce;
}

struct Parameter {
  std::string_view name;
  std::string_view wanted;
  bool (*set)(ListQuery&, const std::string&);
};

constexpr Parameter kParameters[] = {
    {"state", "pending, completed, unknown or expired", &set_state},
    {"scope", "a scope",
     [](ListQuery& query, const std::string& value) {
       query.filter.scope = value;
       return true;
     }},
    {"key", "a key",
     [](ListQuery& query, const std::string& value) {
       query.filter.key = value;
       return true;
     }},
    {"created_before", "a time such as 2026-01-31T09:05:00Z", &set_created_before},
    {"limit", "a number from 1 to 1000", &set_limit},
    {"cursor", "the `next` of a page",
     [](ListQuery& query, const std::string& value) {
       query.cursor = value;
       return true;
     }},
};

}  // namespace

Expected<ListQuery, std::string> parse_list_query(std::string_view query) {
  ListQuery parsed;
  std::string seen = "&";
  for (std::string_view rest = query; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::string name(pair.substr(0, pair.find('=')));
    const auto* parameter = std::find_if(std::begin(kParameters), std::end(kParameters),
                                         [&](const Parameter& each) { return each.name == name; });
    if (parameter == std::end(kParameters)) {
      return unexpected("There is no filter `" + name +
                        "`: they are state, scope, key, created_before, limit and cursor.");
    }
    if (seen.find("&" + name + "&") != std::string::npos) return unexpected("`" + name + "` is given twice.");
    seen += name + "&";
    const auto values = http::query_values(pair, name);
    if (!values || values->size() != 1) return unexpected("`" + name + "` has a broken escape.");
    if (values->front().empty()) continue;  // "?state=" filters nothing
    if (!parameter->set(parsed, values->front())) {
      return unexpected("`" + name + "` wants " + std::string(parameter->wanted) + ".");
    }
  }
  return parsed;
}

}  // namespace stet::admin
