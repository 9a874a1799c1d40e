#pragma once
// The one strict HTTP/1.1 head parser, for requests and for upstream answers
// (docs/adr/0003-one-strict-parser.md). It decides every message boundary; nothing that two readers could
// read differently passes.
//
//   HeadFinder finder(MessageKind::request, limits);
//   while (true) {
//     auto size = finder.find(buffer);       // error: refuse and close
//     if (size && *size > 0) break;          // 0: read more into the buffer
//   }
//   auto head = parse_request_head(buffer.substr(0, *size), limits);

#include <cstddef>
#include <string_view>

#include "http/message.hpp"
#include "http/wire_error.hpp"
#include "stet/error.hpp"

namespace stet::http {

// In bytes; `fields` is a number of field lines.
struct HeadLimits {
  std::size_t start_line = 8 << 10;  // without its CRLF
  std::size_t headers = 32 << 10;    // all field lines with their CRLFs
  std::size_t fields = 100;
};

enum class MessageKind : std::uint8_t { request, response };

// Finds the end of a head in a growing buffer, and refuses what can be refused before it is there: a line
// that ends in a bare LF, a first byte that begins no message (TLS on a plain port), a head over its limits.
// One object a head; each call gets the same bytes again with more behind them, and looks only at the new
// ones.
class HeadFinder {
 public:
  HeadFinder(MessageKind kind, const HeadLimits& limits) : kind_(kind), limits_(limits) {}

  // The size of the head up to and with its empty line, or 0 while that has not come.
  Expected<std::size_t, WireError> find(std::string_view bytes);

 private:
  MessageKind kind_;
  HeadLimits limits_;
  std::size_t scanned_ = 0;       // no LF before this is unknown
  std::size_t line_begin_ = 0;    // of the line that has not ended yet
  std::size_t fields_begin_ = 0;  // after the start line; 0 while it has not ended
};

// `head` is exactly what HeadFinder found, with its empty line. One empty line before the request line is
// skipped (RFC 9112 section 2.2).
Expected<RequestHead, WireError> parse_request_head(std::string_view head, const HeadLimits&);

// Framing is by the request's method and the status (RFC 9112 section 6.3): no body after HEAD, 1xx, 204,
// 304.
Expected<ResponseHead, WireError> parse_response_head(std::string_view head, const HeadLimits&,
                                                      std::string_view request_method);

// Refuses a Connection field that names one of `key_headers`, which would drop the key on the way. Those that
// name Content-Length, Transfer-Encoding or Host have not passed parse_request_head.
Expected<void, WireError> check_key_is_end_to_end(const RequestHead&,
                                                  const std::vector<std::string>& key_headers);

}  // namespace stet::http
