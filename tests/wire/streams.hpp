#pragma once
// A connection's bytes read with the product's parser and decoder, cut at will.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/body_decoder.hpp"
#include "http/head_parser.hpp"
#include "http/response_reader.hpp"

namespace stet::wire {

struct ReadRequest {
  http::RequestHead head;
  std::string body;
};

struct ClientStream {
  std::vector<ReadRequest> requests;
  std::optional<http::WireError> error;
  std::size_t consumed = 0;
  enum class Then : std::uint8_t { end, more, refused } then = Then::more;
};

// Positions at which the stream is cut into reads; none: everything at once.
using Cuts = std::vector<std::size_t>;
Cuts cut_everywhere(std::string_view bytes);

ClientStream read_client_stream(std::string_view bytes, http::Trailers, const Cuts&,
                                const http::HeadLimits& = {});

struct UpstreamStream {
  int status = 0;
  http::Persistence persistence = http::Persistence::close;
  int interims = 0;
  std::string body;
  std::optional<http::WireError> error;
  std::size_t consumed = 0;
};

// The stream ends cleanly after the bytes.
UpstreamStream read_upstream_stream(std::string_view bytes, std::string_view method, const Cuts&);

}  // namespace stet::wire
