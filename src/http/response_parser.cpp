#include "http/chars.hpp"
#include "http/field_lines.hpp"
#include "http/head_parser.hpp"

namespace stet::http {

namespace {

struct StatusLine {
  int minor = 1;
  int status = 0;
  std::string_view reason;
  std::size_t size = 0;  // with its CRLF
};

// RFC 9112 section 4. One leniency: the space before an empty reason may be missing. No boundary depends on
// it, and to refuse it would turn writes that were carried out into unknown ones.
Expected<StatusLine, WireError> parse_status_line(std::string_view head) {
  StatusLine line;
  if (head.starts_with("HTTP/1.1 ")) {
    line.minor = 1;
  } else if (head.starts_with("HTTP/1.0 ")) {
    line.minor = 0;
  } else {
    return malformed("the status line begins with neither HTTP/1.1 nor HTTP/1.0");
  }
  const std::size_t digits = chars::run(head, 9, chars::kDigit);
  if (digits != 3) return malformed("the status is not three digits");
  line.status = (head[9] - '0') * 100 + (head[10] - '0') * 10 + (head[11] - '0');
  if (line.status < 100 || line.status > 599) return malformed("the status is not between 100 and 599");
  std::size_t end = 12;
  if (end < head.size() && head[end] == ' ') {
    const std::size_t size = chars::run(head, end + 1, chars::kValue);
    line.reason = head.substr(end + 1, size);
    end += 1 + size;
  }
  if (end + 1 >= head.size() || head[end] != '\r' || head[end + 1] != '\n') {
    return malformed("the status line does not end as it should");
  }
  line.size = end + 2;
  return line;
}

Expected<void, WireError> frame(ResponseHead& head, const Framing& framing, std::string_view request_method) {
  std::uint64_t length = 0;
  if (framing.content_length.lines > 1) return malformed("there is more than one Content-Length");
  if (framing.content_length.lines == 1) {
    const auto parsed = parse_content_length(framing.content_length.value);
    if (!parsed) return malformed("Content-Length is no number of at most 63 bits");
    length = *parsed;
  }
  if (framing.transfer_encoding.lines > 0) {
    if (framing.content_length.lines > 0) return malformed("Content-Length stands beside Transfer-Encoding");
    if (framing.transfer_encoding.lines > 1) return malformed("there is more than one Transfer-Encoding");
    if (head.minor == 0) return malformed("Transfer-Encoding in HTTP/1.0");
    if (!iequals(framing.transfer_encoding.value, "chunked")) {
      return unsupported("a Transfer-Encoding other than chunked");
    }
  }
  if (head.status < 200 || head.status == 204 || head.status == 304 || request_method == "HEAD") {
    head.content_length = length;  // what GET would have got (RFC 9110 section 8.6)
    head.framing = BodyFraming::none;
  } else if (framing.transfer_encoding.lines > 0) {
    head.framing = BodyFraming::chunked;
  } else if (framing.content_length.lines > 0) {
    head.framing = BodyFraming::sized;
    head.content_length = length;
  } else {
    head.framing = BodyFraming::until_close;
  }
  return {};
}

}  // namespace

Expected<ResponseHead, WireError> parse_response_head(std::string_view bytes, const HeadLimits& limits,
                                                      std::string_view request_method) {
  const auto line = parse_status_line(bytes);
  if (!line) return tl::unexpected(line.error());
  if (line->size > limits.start_line + 2) return too_large("the start line is too long");

  Expected<ResponseHead, WireError> result;
  ResponseHead& head = *result;
  Framing framing;
  head.status = line->status;
  head.minor = line->minor;
  head.reason = line->reason;
  auto verdict =
      parse_field_lines(bytes.substr(line->size), limits, MessageKind::response, head.fields, framing);
  if (verdict) verdict = frame(head, framing, request_method);
  if (!verdict) return tl::unexpected(verdict.error());
  head.persistence =
      head.framing == BodyFraming::until_close ? Persistence::close : framing.persistence(head.minor);
  return result;
}

}  // namespace stet::http
