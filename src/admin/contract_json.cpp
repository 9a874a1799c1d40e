#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "admin/contract.hpp"
#include "admin/contract_terms.hpp"
#include "config/units.hpp"

namespace stet::admin {
namespace {

namespace json = boost::json;

json::array array_of(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

json::string duration(milliseconds time) {
  const std::string text = time == kForever ? "forever" : config::duration_text(time);
  return json::string(text);
}

std::string_view in_progress_name(InProgressMode mode) {
  switch (mode) {
    case InProgressMode::conflict:
      return "conflict";
    case InProgressMode::wait:
      return "wait";
    case InProgressMode::accept:
      return "accept";
  }
  return "";
}

json::object keyed_terms(const config::Route& route) {
  const Policy& policy = route.policy;
  const StatusLists statuses = status_lists(policy.statuses);
  json::object terms;
  if (route.key_from.kind == config::KeySource::Kind::header) {
    terms["key_headers"] = array_of(route.key_headers);
  } else {
    terms["key_from"] = route.key_from.text;
  }
  terms["scope"] = route.scope.empty() ? json::value(nullptr) : json::value(array_of(scope_kinds(route)));
  terms["retention"] = duration(policy.terms.retention);
  terms["tombstone"] = duration(policy.terms.tombstone);
  terms["in_progress"] = in_progress_name(policy.in_progress);
  if (policy.in_progress == InProgressMode::wait) terms["wait"] = duration(policy.wait);
  terms["response_timeout"] = duration(policy.response_timeout);
  terms["completion_timeout"] = duration(policy.completion_timeout);
  terms["on_unknown"] = name(policy.terms.on_unknown);
  terms["on_store_failure"] = policy.on_store_failure == OnStoreFailure::open ? "open" : "closed";
  if (policy.terms.on_unknown != OnUnknown::joined) {  // what the API records says it there
    terms["record"] = array_of(statuses.recorded);
    terms["release"] = array_of(statuses.released);
    terms["unknown"] = array_of(statuses.unknown);
  }
  terms["fingerprint"] = json::object{{"ignore", array_of(route.fingerprint.ignore)},
                                      {"only", array_of(route.fingerprint.only)},
                                      {"headers", array_of(route.fingerprint.headers)}};
  terms["max_request_body"] = route.max_request_body;
  terms["max_response_body"] = route.max_response_body;
  terms["status"] =
      json::object{{"in_progress", route.status_in_progress}, {"key_reused", route.status_key_reused}};
  return terms;
}

json::object route_json(const config::Route& route) {
  json::object object{{"match", route.name}};
  json::object keys;
  for (const KeyRule& rule : key_rules(route)) {
    for (const std::string& method : rule.methods) keys[method] = name(rule.mode);
  }
  object["key"] = std::move(keys);
  if (takes_keys(route)) {
    for (auto& member : keyed_terms(route)) object.insert(std::move(member));
  }
  return object;
}

}  // namespace

std::string contract_json(const config::Config& config) {
  json::array routes;
  for (const config::Route& route : config.routes) routes.push_back(route_json(route));
  return json::serialize(json::object{
             {"guarantee",
              "Within the retention window, for a given scope and key and a matching fingerprint, the "
              "effect happens at most once and every retry gets the answer that the first attempt "
              "produced."},
             {"problems", "/.well-known/stet/problems/"},
             {"routes", std::move(routes)},
             {"defaults", route_json(config.defaults)}}) +
         "\n";
}

}  // namespace stet::admin
