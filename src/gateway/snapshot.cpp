#include "gateway/snapshot.hpp"

#include <algorithm>

#include "config/promise.hpp"
#include "gateway/upstream_tls.hpp"

namespace stet::gateway {
namespace {

bool asks_over_https(const config::Config& config) {
  const auto https = [](const config::UpstreamUrl& url) { return url.scheme == config::UpstreamUrl::Scheme::https; };
  if (config.auth_url && https(*config.auth_url)) return true;
  if (config.defaults.reconcile_url.starts_with("https:")) return true;
  for (const config::Route& route : config.routes) {
    if (route.reconcile_url.starts_with("https:")) return true;
  }
  return std::any_of(config.upstream.begin(), config.upstream.end(), https);
}

RouteInUse in_use(const config::Route& route, admin::Metrics& metrics) {
  std::vector<std::string> not_passed_on = route.key_headers;
  not_passed_on.push_back("Accept-Encoding");  // asked for `identity`, so that every caller can read a replay
  return {route, metrics.route(route.name), std::move(not_passed_on)};
}

}  // namespace

Snapshot::Snapshot(std::shared_ptr<const config::Config> config, admin::Metrics& metrics)
    : config_(std::move(config)),
      table_(*config_),
      request_limits_{config_->limits.request_line, config_->limits.headers, config_->limits.header_fields},
      tls_(asks_over_https(*config_) ? std::make_shared<const UpstreamTls>(*config_) : nullptr),
      tokens_(config::sends_token(*config_) ? Tokens::sent : Tokens::kept),
      defaults_(in_use(config_->defaults, metrics)) {
  routes_.reserve(config_->routes.size());
  for (const config::Route& route : config_->routes) routes_.push_back(in_use(route, metrics));
}

const RouteInUse& Snapshot::find(std::string_view method, std::string_view path) const {
  const config::Route& route = table_.find(method, path);
  if (&route == &config_->defaults) return defaults_;
  return routes_[static_cast<std::size_t>(&route - config_->routes.data())];
}

}  // namespace stet::gateway
