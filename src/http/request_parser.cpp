#include <algorithm>

#include "http/chars.hpp"
#include "http/field_lines.hpp"
#include "http/head_parser.hpp"

namespace stet::http {

namespace {

using Verdict = Expected<void, WireError>;

struct RequestLine {
  std::string_view method;
  std::string_view target;
  int minor = 1;
  std::size_t size = 0;  // with its CRLF
};

// Lower-case methods are refused: methods are case-sensitive (RFC 9110 section 9.1), servers that take `post`
// for POST exist, and a rule about POST must not be walked around by spelling.
Expected<std::string_view, WireError> parse_method(std::string_view head) {
  const std::size_t end = chars::run(head, 0, chars::kMethod);
  if (end < head.size() && chars::is(head[end], chars::kToken))
    return malformed("the method is not in upper case");
  if (end == 0 || end == head.size() || head[end] != ' ')
    return malformed("the request line begins with no method");
  const std::string_view method = head.substr(0, end);
  if (method == "CONNECT" || method == "TRACE") return unsupported("CONNECT and TRACE are not served");
  return method;
}

Expected<RequestLine, WireError> parse_request_line(std::string_view head) {
  const auto method = parse_method(head);
  if (!method) return tl::unexpected(method.error());
  RequestLine line;
  line.method = *method;
  const std::size_t begin = line.method.size() + 1;
  const std::size_t size = chars::run(head, begin, chars::kVisible);
  const std::size_t end = begin + size;
  if (size == 0) return malformed("no target after the method and one space");
  if (end == head.size() || head[end] != ' ') {
    return malformed(end < head.size() && head[end] == '\r'
                         ? "the request line has no version"
                         : "the target holds a control or non-ASCII character");
  }
  line.target = head.substr(begin, size);
  const std::string_view version = head.substr(end + 1, 10);
  if (version == "HTTP/1.1\r\n") {
    line.minor = 1;
  } else if (version == "HTTP/1.0\r\n") {
    line.minor = 0;
  } else if (version.starts_with("HTTP/") && version.size() == 10 && version.ends_with("\r\n")) {
    return unsupported("the version is neither HTTP/1.1 nor HTTP/1.0");
  } else {
    return malformed("the request line ends in no version");
  }
  line.size = end + 11;
  return line;
}

// uri-host [":" port] of RFC 9110 section 7.2, without userinfo, escapes and sub-delims.
bool is_host(std::string_view text) {
  std::size_t end = 0;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || close < 3) return false;
    for (const char c : text.substr(1, close - 1)) {
      if (!chars::is(c, chars::kHex) && c != ':' && c != '.') return false;
    }
    end = close + 1;
  } else {
    end = chars::run(text, 0, chars::kHost);
    if (end == 0) return false;
  }
  if (end == text.size()) return true;
  const std::string_view port = text.substr(end + 1);
  return text[end] == ':' && port.size() <= 5 && chars::all(port, chars::kDigit);
}

Verdict check_path_and_query(std::string_view target) {
  std::size_t i = 0;
  while (i < target.size() && chars::is(target[i], chars::kPath)) {
    if (target[i] == '%') {
      if (i + 2 >= target.size() || !chars::is(target[i + 1], chars::kHex) ||
          !chars::is(target[i + 2], chars::kHex)) {
        return malformed("the path holds a '%' without two hex digits");
      }
      if (target[i + 1] == '0' && target[i + 2] == '0') return malformed("the path holds an escaped NUL");
    }
    ++i;
  }
  if (i == target.size()) return {};
  if (target[i] == '#') return malformed("the target holds a fragment");
  if (target[i] != '?') return malformed("the path holds a character that has to be escaped");
  i += 1 + chars::run(target, i + 1, chars::kQuery);
  if (i == target.size()) return {};
  return target[i] == '#' ? malformed("the target holds a fragment")
                          : malformed("the query holds a character that has to be escaped");
}

// Sets head.target in origin-form, and for an absolute-form the authority that Host has to equal.
Verdict take_target(std::string_view target, RequestHead& head, std::string_view& authority) {
  if (target == "*") {
    if (head.method != "OPTIONS") return malformed("the target * is for OPTIONS only");
    head.target = target;
    return {};
  }
  if (!target.starts_with('/')) {
    const std::size_t scheme = istarts_with(target, "http://") ? 7 : istarts_with(target, "https://") ? 8 : 0;
    if (scheme == 0) return malformed("the target is neither a path nor an http URL");
    target.remove_prefix(scheme);
    const std::size_t end = std::min(target.find_first_of("/?#"), target.size());
    authority = target.substr(0, end);
    if (authority.find('@') != std::string_view::npos) return malformed("the target holds userinfo");
    if (!is_host(authority)) return malformed("the authority of the target is no host");
    target.remove_prefix(end);
    if (target.empty() && head.method == "OPTIONS") {  // RFC 9112 section 3.2.4
      head.target = "*";
      return {};
    }
    if (!target.starts_with('/')) head.target = "/";
  }
  head.target += target;
  return check_path_and_query(head.target);
}

Verdict check_host(RequestHead& head, const Framing::Seen& host, std::string_view authority) {
  if (host.lines > 1) return malformed("there is more than one Host");
  if (host.lines == 0) {
    if (head.minor == 1) return malformed("there is no Host");  // RFC 9112 section 3.2
    if (!authority.empty()) head.fields.add("Host", std::string(authority));
    return {};
  }
  if (!is_host(host.value)) return malformed("Host is not a host with an optional port");
  if (!authority.empty() && !iequals(authority, host.value))
    return malformed("Host is not the target's authority");
  return {};
}

Verdict frame(RequestHead& head, const Framing& framing) {
  if (framing.transfer_encoding.lines > 0) {
    if (framing.content_length.lines > 0) return malformed("Content-Length stands beside Transfer-Encoding");
    if (framing.transfer_encoding.lines > 1) return malformed("there is more than one Transfer-Encoding");
    if (head.minor == 0) return malformed("Transfer-Encoding in HTTP/1.0");
    if (!iequals(framing.transfer_encoding.value, "chunked")) {
      return unsupported("a Transfer-Encoding other than chunked");
    }
    head.framing = BodyFraming::chunked;
  } else if (framing.content_length.lines > 0) {
    if (framing.content_length.lines > 1) return malformed("there is more than one Content-Length");
    const auto length = parse_content_length(framing.content_length.value);
    if (!length) return malformed("Content-Length is no number of at most 63 bits");
    head.framing = BodyFraming::sized;
    head.content_length = *length;
  }
  return {};
}

Verdict take_expectation(RequestHead& head, const Framing::Seen& expect) {
  if (expect.lines == 0 || head.minor == 0) return {};  // RFC 9110 section 10.1.1: ignored in HTTP/1.0
  if (expect.lines > 1 || !iequals(expect.value, "100-continue")) {
    return unsupported("an expectation other than 100-continue");
  }
  head.expects_continue = head.framing == BodyFraming::chunked || head.content_length > 0;
  return {};
}

// Switching protocols is never begun with a body still to come, and never to h2c: Upgrade may be ignored
// (RFC 9110 section 7.8), and is.
void take_upgrade(RequestHead& head, const Framing& framing) {
  if (!framing.names_upgrade || framing.upgrade.lines != 1 || head.minor == 0) return;
  if (head.framing == BodyFraming::chunked || head.content_length > 0) return;
  bool h2c = false;
  for_each_element(framing.upgrade.value,
                   [&](std::string_view protocol) { h2c = h2c || iequals(protocol, "h2c"); });
  if (!h2c) head.upgrade = framing.upgrade.value;
}

}  // namespace

Expected<RequestHead, WireError> parse_request_head(std::string_view bytes, const HeadLimits& limits) {
  if (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  const auto line = parse_request_line(bytes);
  if (!line) return tl::unexpected(line.error());
  if (line->size > limits.start_line + 2) return too_large("the start line is too long");

  Expected<RequestHead, WireError> result;
  RequestHead& head = *result;
  Framing framing;
  std::string_view authority;
  head.method = line->method;
  head.minor = line->minor;
  Verdict verdict = take_target(line->target, head, authority);
  if (verdict) {
    verdict = parse_field_lines(bytes.substr(line->size), limits, MessageKind::request, head.fields, framing);
  }
  if (verdict) verdict = check_host(head, framing.host, authority);
  if (verdict) verdict = frame(head, framing);
  if (verdict) verdict = take_expectation(head, framing.expect);
  if (!verdict) return tl::unexpected(verdict.error());
  take_upgrade(head, framing);
  head.persistence = framing.persistence(head.minor);
  return result;
}

Expected<void, WireError> check_key_is_end_to_end(const RequestHead& head,
                                                  const std::vector<std::string>& key_headers) {
  bool named = false;
  for (const Header& line : head.fields.lines()) {
    if (!iequals(line.name, "Connection")) continue;
    for_each_element(line.value, [&](std::string_view option) {
      for (const std::string& key_header : key_headers) named = named || iequals(option, key_header);
    });
  }
  if (named) return malformed("Connection names the key's header");
  return {};
}

}  // namespace stet::http
