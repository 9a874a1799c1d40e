#include <charconv>

#include "http/date.hpp"
#include "http/hop_by_hop.hpp"
#include "http/serialize.hpp"

namespace stet::http {

// The IANA registry of HTTP status codes, without the unused ones.
std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 102:
      return "Processing";
    case 103:
      return "Early Hints";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 203:
      return "Non-Authoritative Information";
    case 204:
      return "No Content";
    case 205:
      return "Reset Content";
    case 206:
      return "Partial Content";
    case 207:
      return "Multi-Status";
    case 208:
      return "Already Reported";
    case 226:
      return "IM Used";
    case 300:
      return "Multiple Choices";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 305:
      return "Use Proxy";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 407:
      return "Proxy Authentication Required";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 423:
      return "Locked";
    case 424:
      return "Failed Dependency";
    case 425:
      return "Too Early";
    case 426:
      return "Upgrade Required";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 451:
      return "Unavailable For Legal Reasons";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 506:
      return "Variant Also Negotiates";
    case 507:
      return "Insufficient Storage";
    case 508:
      return "Loop Detected";
    case 511:
      return "Network Authentication Required";
    default:
      return "";
  }
}

namespace {

void append_status_line(std::string& out, int status, std::string_view reason) {
  out.append("HTTP/1.1 ");
  out += static_cast<char>('0' + status / 100 % 10);
  out += static_cast<char>('0' + status / 10 % 10);
  out += static_cast<char>('0' + status % 10);
  out += ' ';
  for (const char c : reason.empty() ? reason_phrase(status) : reason) {
    out += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
  }
  out.append("\r\n");
}

void append_framing(std::string& out, const Reply& reply) {
  if (reply.status < 200 || reply.status == 204 || reply.status == 304) return;  // RFC 9112 section 6.3
  switch (reply.body.framing) {
    case BodyFraming::none:
      out.append("Content-Length: 0\r\n");
      break;
    case BodyFraming::chunked:
      out.append("Transfer-Encoding: chunked\r\n");
      break;
    case BodyFraming::until_close:
      break;
    case BodyFraming::sized: {
      char digits[20];
      const auto end = std::to_chars(digits, digits + sizeof digits, reply.body.length).ptr;
      out.append("Content-Length: ").append(digits, end).append("\r\n");
      break;
    }
  }
}

}  // namespace

void append_response_head(std::string& out, const Reply& reply) {
  std::size_t size = 256;
  for (const Header& line : reply.fields) size += line.name.size() + line.value.size() + 4;
  for (const Header& line : reply.more) size += line.name.size() + line.value.size() + 4;
  out.reserve(out.size() + size);

  append_status_line(out, reply.status, reply.reason);
  const ConnectionOptions options(reply.fields);
  bool has_date = false;
  for (const Header& line : reply.fields) {
    if (is_hop_by_hop(line.name) || options.name(line.name)) continue;
    if (iequals(line.name, "Date")) {
      if (has_date) continue;
      has_date = true;
    }
    append_line(out, line.name, line.value);
  }
  for (const Header& line : reply.more) append_line(out, line.name, line.value);
  if (!has_date && reply.status >= 200) {
    out.append("Date: ");
    append_http_date(out, reply.now);
    out.append("\r\n");
  }
  append_framing(out, reply);
  if (reply.status == 101) {
    out.append("Connection: Upgrade\r\n");
    append_line(out, "Upgrade", reply.upgrade);
  } else if (reply.persistence == Persistence::close) {
    out.append("Connection: close\r\n");
  } else if (reply.client_minor == 0) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
}

void append_chunk_head(std::string& out, std::uint64_t size) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, size, 16).ptr;
  out.append(digits, end).append("\r\n");
}

}  // namespace stet::http
