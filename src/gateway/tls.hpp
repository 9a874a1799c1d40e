#pragma once
// TLS under a Link. Only tls.cpp and link.cpp include this: ssl::stream is slow to compile.

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include "gateway/asio.hpp"

namespace stet::gateway {

class TlsLayer {
 public:
  TlsLayer(Socket& socket, asio::ssl::context& context) : stream(socket, context) {}
  asio::ssl::stream<Socket&> stream;
};

}  // namespace stet::gateway
