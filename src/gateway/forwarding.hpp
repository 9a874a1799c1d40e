#pragma once
// The head of a request on its way to the upstream (docs/http.md, "To the upstream").

#include <span>
#include <string>

#include "config/config.hpp"
#include "http/serialize.hpp"

namespace stet::gateway {

struct Onward {
  const config::Config& config;
  const config::UpstreamUrl& upstream;
  std::string_view client_address;
  http::OutgoingBody body;
  http::Upgrading upgrading = http::Upgrading::strip;
  std::span<const std::string> drop{};
  std::span<const Header> add{};
};
void append_onward_head(std::string& out, const http::RequestHead&, const Onward&);

// The Host of an upstream: without the port where it is the scheme's own.
std::string host_of(const config::UpstreamUrl&);

}  // namespace stet::gateway
