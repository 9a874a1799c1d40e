#include "operators.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "command.hpp"

namespace stet::app {
namespace {

namespace json = boost::json;

constexpr std::size_t kPage = 1000;
// A key stands in as many scopes as there are callers who chose it; a person can look at so many.
constexpr std::size_t kShownScopes = 10;

std::string text_of(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(json::string_view(member.data(), member.size()));
  return value && value->is_string() ? std::string(value->get_string().c_str()) : std::string();
}

}  // namespace

Answered<json::object> parse_object(const std::string& text) {
  json::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object())
    return unexpected<Refused>({kEnvironment, "an answer that is no JSON object"});
  return std::move(value.get_object());
}

Answered<json::object> Operators::collect(ListRequest request) {
  const std::size_t wanted = request.limit;
  json::array all;
  while (true) {
    request.limit = std::min(kPage, wanted - all.size());
    auto page = list(request);
    if (!page) return page;
    json::value* found = page->if_contains("operations");
    if (!found || !found->is_array())
      return unexpected<Refused>({kEnvironment, "an answer without operations"});
    for (json::value& operation : found->get_array()) all.push_back(std::move(operation));
    const std::string next = text_of(*page, "next");
    if (next.empty() || all.size() >= wanted || next == request.cursor) {
      json::object result;
      result["operations"] = std::move(all);
      if (next.empty())
        result["next"] = nullptr;
      else
        result["next"] = next;
      return result;
    }
    request.cursor = next;
  }
}

Answered<OperationId> Operators::resolve(const std::string& name, const std::optional<std::string>& scope) {
  if (const auto id = OperationId::parse(name); id && !scope) {
    const auto found = show(*id);
    if (found) return *id;
    if (found.error().exit_code != kFailed) return unexpected<Refused>(found.error());
  }
  ListRequest request;
  request.filter.key = name;
  request.filter.scope = scope;
  request.limit = kShownScopes;
  const auto found = collect(request);
  if (!found) return unexpected<Refused>(found.error());
  const json::array& operations = found->at("operations").get_array();
  if (operations.empty())
    return unexpected<Refused>(
        {kFailed, "no operation has the id or the key \"" + name + "\"" + (scope ? " in that scope" : "")});
  if (operations.size() > 1) {
    std::string what = "the key \"" + name + "\" stands in several scopes; --scope, or an id, says which:";
    for (const json::value& operation : operations)
      what += "\n  " + text_of(operation.as_object(), "id") + "  --scope " +
              text_of(operation.as_object(), "scope") + "  " + text_of(operation.as_object(), "state") +
              "  " + text_of(operation.as_object(), "created_at");
    return unexpected<Refused>({kUsage, what});
  }
  const auto id = OperationId::parse(text_of(operations[0].as_object(), "id"));
  if (!id) return unexpected<Refused>({kEnvironment, "an answer with a broken id"});
  return *id;
}

}  // namespace stet::app
