#pragma once
// How upstreams are trusted: the system's authorities or the configured ones. Shared by the workers.

#include <memory>

#include "config/config.hpp"
#include "gateway/link.hpp"
#include "stet/error.hpp"

namespace boost::asio::ssl {
class context;
}

namespace stet::gateway {

class UpstreamTls {
 public:
  // Throws std::runtime_error when the configured file holds no certificates.
  explicit UpstreamTls(const config::Config&);
  ~UpstreamTls();

  // Puts TLS on a connection: SNI, handshake, the certificate's name. The error is for the operator.
  Task<Expected<void, std::string>> start(Link&, const std::string& host) const;

 private:
  std::unique_ptr<asio::ssl::context> context_;
  bool verify_;
};

}  // namespace stet::gateway
