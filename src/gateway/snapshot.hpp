#pragma once
// One configuration in use: what a request that came under it keeps until its end, whatever a reload does meanwhile.

#include <memory>
#include <vector>

#include "admin/metrics.hpp"
#include "config/config.hpp"
#include "config/route_table.hpp"
#include "http/head_parser.hpp"

namespace stet::gateway {

class UpstreamTls;

// A route with what is looked up or put together once for it.
struct RouteInUse {
  const config::Route& route;
  admin::RouteMetrics& metrics;
  std::vector<std::string> not_passed_on;  // of a keyed request's lines: the gateway writes these itself
};

class Snapshot {
 public:
  // Throws std::runtime_error when upstream_tls.ca cannot be used.
  Snapshot(std::shared_ptr<const config::Config>, admin::Metrics&);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  const config::Config& config() const { return *config_; }
  const RouteInUse& find(std::string_view method, std::string_view path) const;
  const std::shared_ptr<const UpstreamTls>& tls() const { return tls_; }  // nullptr: nothing is asked over https
  const http::HeadLimits& request_limits() const { return request_limits_; }
  // Whether attempts carry Stet-Token: services can join them to their own transactions.
  enum class Tokens : std::uint8_t { kept, sent };
  Tokens tokens() const { return tokens_; }

 private:
  const std::shared_ptr<const config::Config> config_;
  const config::RouteTable table_;
  const http::HeadLimits request_limits_;
  const std::shared_ptr<const UpstreamTls> tls_;
  const Tokens tokens_;
  const RouteInUse defaults_;
  std::vector<RouteInUse> routes_;  // in the order of config_.routes
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace stet::gateway
