#include "gateway/upstream_tls.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>

#include "gateway/tls.hpp"

namespace stet::gateway {

UpstreamTls::UpstreamTls(const config::Config& config)
    : context_(std::make_unique<asio::ssl::context>(asio::ssl::context::tls_client)),
      verify_(config.upstream_tls_verify) {
  SSL_CTX_set_min_proto_version(context_->native_handle(), TLS1_2_VERSION);
  error_code error;
  if (config.upstream_tls_ca) {
    context_->load_verify_file(*config.upstream_tls_ca, error);
    if (error) {
      throw std::runtime_error("upstream_tls.ca: " + *config.upstream_tls_ca + ": " + error.message());
    }
  } else {
    context_->set_default_verify_paths(error);
  }
  context_->set_verify_mode(verify_ ? asio::ssl::verify_peer : asio::ssl::verify_none);
}

UpstreamTls::~UpstreamTls() = default;

Task<Expected<void, std::string>> UpstreamTls::start(Link& link, const std::string& host) const {
  auto layer = std::make_unique<TlsLayer>(link.socket(), *context_);
  auto& stream = layer->stream;
  error_code not_an_address;
  asio::ip::make_address(host, not_an_address);
  // RFC 6066 section 3: a literal address is no server name.
  if (not_an_address) SSL_set_tlsext_host_name(stream.native_handle(), host.c_str());
  if (verify_) stream.set_verify_callback(asio::ssl::host_name_verification(host));
  link.set_tls(std::move(layer));
  const auto [error] = co_await stream.async_handshake(asio::ssl::stream_base::client, as_result);
  if (error) co_return unexpected("the TLS handshake failed (" + error.message() + ")");
  co_return Expected<void, std::string>{};
}

}  // namespace stet::gateway
