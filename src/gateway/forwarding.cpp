#include "gateway/forwarding.hpp"

#include "http/target.hpp"

namespace stet::gateway {

std::string host_of(const config::UpstreamUrl& url) {
  const bool literal_v6 = url.host.find(':') != std::string::npos;
  std::string host = literal_v6 ? "[" + url.host + "]" : url.host;
  const std::uint16_t usual = url.scheme == config::UpstreamUrl::Scheme::https ? 443 : 80;
  if (url.port != usual) host += ":" + std::to_string(url.port);
  return host;
}

void append_onward_head(std::string& out, const http::RequestHead& head, const Onward& onward) {
  std::string joined;
  std::string_view target = head.target;
  if (!onward.upstream.path.empty()) target = joined = http::join_target(onward.upstream.path, head.target);
  const bool rewrite = onward.config.upstream_host == config::UpstreamHost::upstream;
  std::string host;
  if (rewrite || head.host().empty()) host = host_of(onward.upstream);
  http::Forwarding forwarding;
  forwarding.target = target;
  if (rewrite) forwarding.host = host;
  forwarding.fallback_host = host;
  forwarding.client_address = onward.client_address;
  forwarding.body = onward.body;
  forwarding.upgrading = onward.upgrading;
  forwarding.drop = onward.drop;
  forwarding.add = onward.add;
  http::append_request_head(out, head, forwarding);
}

}  // namespace stet::gateway
