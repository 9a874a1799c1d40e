#include "config/checks.hpp"

#include <algorithm>
#include <optional>

#include "config/route_table.hpp"
#include "config/units.hpp"

namespace stet::config {
namespace {

// Where to report a contradiction between keys, the first of which that was said here gives the place;
// nothing when all of them were inherited, and so reported at [defaults] already.
std::optional<Place> place_of(const RouteDraft& draft, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    if (const auto own = draft.own.find(key); own != draft.own.end()) return own->second;
  return std::nullopt;
}

bool has_scope(const Route& route, ScopePart::Kind kind) {
  return std::any_of(route.scope.begin(), route.scope.end(),
                     [&](const ScopePart& part) { return part.kind == kind; });
}

void check_on_unknown(const RouteDraft& draft, Findings& findings) {
  const Policy& policy = draft.route.policy;
  if (policy.terms.on_unknown == OnUnknown::retry && policy.promise != UpstreamPromise::idempotent)
    if (const auto place = place_of(draft, {"on_unknown", "upstream_idempotent"}))
      findings.error(*place,
                     "on_unknown = \"retry\" runs the write again although it may have happened; it needs "
                     "upstream_idempotent = true, the upstream's promise to deduplicate on the key");
  if (policy.terms.on_unknown == OnUnknown::ask && !draft.said.contains("reconcile.url"))
    if (const auto place = place_of(draft, {"on_unknown", "reconcile.url"}))
      findings.error(*place, "on_unknown = \"ask\" needs reconcile.url, the address to ask");
}

void check_scope(const TopDraft& top, const RouteDraft& draft, Findings& findings) {
  const Route& route = draft.route;
  if (route.key_from.kind != KeySource::Kind::header && route.scope.empty())
    if (const auto place = place_of(draft, {"key_from", "scope"}))
      findings.error(*place,
                     "key_from = \"" + route.key_from.text +
                         "\" needs an explicit scope, because anybody can name somebody else's number: scope "
                         "= [\"credentials\"] or another");
  if (has_scope(route, ScopePart::Kind::auth) && !top.config.auth_url)
    if (const auto place = place_of(draft, {"scope"}))
      findings.error(*place, "scope \"auth\" needs auth.url, the address to ask");
  if (has_scope(route, ScopePart::Kind::jwt) && !top.config.jwt)
    if (const auto place = place_of(draft, {"scope"}))
      findings.error(
          *place,
          "scope \"jwt:…\" needs [jwt] with secret or public_key: an unverified claim selects no scope");
}

void check_key_from_path(const RouteDraft& draft, Findings& findings) {
  const Route& route = draft.route;
  if (route.key_from.kind != KeySource::Kind::path || !route.match) return;
  const auto& segments = route.match->segments;
  const bool open = !segments.empty() && segments.back().kind == Match::Segment::Kind::rest;
  if (!open && route.key_from.segment > segments.size())
    if (const auto place = place_of(draft, {"key_from", "match"}))
      findings.error(*place, "key_from = \"" + route.key_from.text + "\": " + route.match->pattern +
                                 " has only " + std::to_string(segments.size()) +
                                 (segments.size() == 1 ? " segment" : " segments"));
}

void check_joins(const TopDraft& top, const RouteDraft& draft, Findings& findings) {
  if (!draft.route.upstream_joins) return;
  const auto place = place_of(draft, {"upstream_joins"});
  if (!place) return;
  if (top.config.store_options.encryption_key)
    findings.error(*place,
                   "upstream_joins cannot be combined with store_options.encryption_key: the upstream writes "
                   "the answer, "
                   "and has no key");
  if (!is_postgres_store(top.config.store))
    findings.error(*place,
                   "upstream_joins needs the PostgreSQL store, in whose transactions the upstream joins: store = "
                   "\"postgresql://…\" was meant");
}

void check_statuses(const RouteDraft& draft, Findings& findings) {
  std::map<int, std::string> seen;
  for (const std::string_view key : {"record", "release", "unknown"}) {
    const auto list = draft.lists.find(std::string(key));
    if (list == draft.lists.end() || !draft.own.contains(key)) continue;
    for (const int status : list->second.statuses) {
      const auto [other, fresh] = seen.emplace(status, key);
      if (fresh) continue;
      const std::string text = status < 10 ? "\"" + std::to_string(status) + "xx\"" : std::to_string(status);
      findings.error(draft.own.find(key)->second,
                     text + " cannot be in both " + other->second + " and " + std::string(key));
    }
  }
}

void check_key(const RouteDraft& draft, Findings& findings) {
  const Route& route = draft.route;
  if (!route.match || route.key != KeyMode::required || !draft.own.contains("key")) return;
  for (const std::string& method : route.match->methods)
    if (route.key_mode(method) == KeyMode::off)
      findings.error(
          draft.own.find("key")->second,
          "key = \"required\": " + method + " is never keyed; give it a route of its own, or leave it out");
}

}  // namespace

void check_route(const TopDraft& top, const RouteDraft& draft, Findings& findings) {
  const Route& route = draft.route;
  check_on_unknown(draft, findings);
  check_scope(top, draft, findings);
  check_key_from_path(draft, findings);
  check_joins(top, draft, findings);
  check_statuses(draft, findings);
  check_key(draft, findings);
  if (!route.fingerprint.ignore.empty() && !route.fingerprint.only.empty())
    if (const auto place = place_of(draft, {"fingerprint.only", "fingerprint.ignore"}))
      findings.error(
          *place,
          "fingerprint.ignore and fingerprint.only exclude each other; an inherited one is taken back with "
          "an empty list");
  if (route.policy.completion_timeout < route.policy.response_timeout)
    if (const auto place = place_of(draft, {"completion_timeout", "response_timeout"}))
      findings.warning(
          *place, "completion_timeout (" + duration_text(route.policy.completion_timeout) +
                      ") is shorter than response_timeout (" + duration_text(route.policy.response_timeout) +
                      "): a slow answer is unknown before anybody hears that it is still running");
  for (const auto& [key, size] :
       {std::pair<std::string_view, std::uint64_t>{"max_request_body", route.max_request_body},
        {"max_response_body", route.max_response_body}})
    if (size > top.config.limits.buffered_bodies)
      if (const auto place = place_of(draft, {key}))
        findings.error(*place, std::string(key) + " is larger than limits.buffered_bodies (" +
                                   size_text(top.config.limits.buffered_bodies) +
                                   "), so that such a body never fits");
}

void check_reachable(const std::vector<RouteDraft>& routes, Findings& findings) {
  for (std::size_t i = 0; i < routes.size(); ++i) {
    if (!routes[i].route.match) continue;
    const Match& match = *routes[i].route.match;
    const RouteDraft* cover = nullptr;
    const bool reachable =
        std::any_of(match.methods.begin(), match.methods.end(), [&](const std::string& method) {
          const auto covering = [&](const RouteDraft& earlier) {
            return earlier.route.match && covers(*earlier.route.match, match, method);
          };
          const auto end = routes.begin() + static_cast<std::ptrdiff_t>(i);
          const auto found = std::find_if(routes.begin(), end, covering);
          if (found != end) cover = &*found;
          return found == end;
        });
    if (reachable) continue;
    findings.error(routes[i].own.find("match")->second,
                   "match: \"" + routes[i].route.name + "\" can never match, because \"" + cover->route.name +
                       "\" at " + cover->place.text() +
                       " matches first; the special one was meant to stand before the general one?");
  }
}

void check_top(const TopDraft& top, const Place& whole, Findings& findings) {
  const Config& config = top.config;
  const auto place = [&](std::string_view key) {
    const auto said = top.said.find(key);
    return said == top.said.end() ? whole : said->second;
  };
  if (config.upstream.empty() && !top.said.contains("upstream"))
    findings.error(whole,
                   "upstream is missing: the API to protect, such as upstream = \"http://127.0.0.1:3000\"");
  if (!is_loopback(config.admin.host) && !config.admin_token && !top.said.contains("admin_token"))
    findings.error(place("admin"),
                   "admin on " + config.admin.host +
                       " can be reached from elsewhere and needs admin_token; or 127.0.0.1 was meant");
  if (config.listen.port != 0 && config.listen.port == config.admin.port &&
      config.listen.host == config.admin.host)
    findings.error(place(top.said.contains("admin") ? "admin" : "listen"),
                   "listen and admin are the same address; two ports were meant");
  for (const UpstreamUrl& url : config.upstream)
    if (url.port == config.listen.port && url.host == config.listen.host &&
        url.scheme == UpstreamUrl::Scheme::http)
      findings.error(place("upstream"),
                     "upstream " + url.text + " is the gateway itself (listen); requests would go round");
  if (config.jwt && config.jwt->secret && config.jwt->public_key)
    findings.error(
        place("jwt.public_key"),
        "jwt.secret and jwt.public_key exclude each other: a token would choose how it is verified");
  if (config.jwt && !config.jwt->secret && !config.jwt->public_key && !top.said.contains("jwt.secret") &&
      !top.said.contains("jwt.public_key"))
    findings.error(place(top.said.contains("jwt.issuer") ? "jwt.issuer" : "jwt.audience"),
                   "[jwt] needs secret or public_key, to verify tokens with");
  if (top.said.contains("limits.waiters_per_key") && config.limits.waiters_per_key > config.limits.waiters)
    findings.error(
        place("limits.waiters_per_key"),
        "more than limits.waiters (" + std::to_string(config.limits.waiters) + ") lets wait in all");
  if (config.store_options.durability == Durability::os)
    findings.warning(
        place("store_options.durability"),
        "durability \"os\": an acknowledged answer survives a crash of the process, and not a power loss");
}

}  // namespace stet::config
