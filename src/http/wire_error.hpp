#pragma once
// Why bytes on the wire were refused. For a client that is 400 `bad-request` and the end of the connection;
// from an upstream it is an answer that never came whole (outcome unknown, the connection is not pooled).

#include <cstdint>
#include <string_view>

namespace stet::http {

enum class WireErrorKind : std::uint8_t {
  malformed,    // against the grammar, or open to two readings
  too_large,    // over a limit of HeadLimits
  unsupported,  // understood, and refused on purpose (CONNECT, TRACE, HTTP/2, other transfer codings)
  truncated,    // the peer ended the stream before the message was whole
};

struct WireError {
  WireErrorKind kind = WireErrorKind::malformed;
  std::string_view detail;  // one sentence of ours with static storage; never the peer's bytes
};

}  // namespace stet::http
