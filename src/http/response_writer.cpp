#include <algorithm>
#include <array>
#include <charconv>

#include "http/date.hpp"
#include "http/hop_by_hop.hpp"
#include "http/serialize.hpp"

namespace stet::http {

namespace {

struct Reason {
  int status;
  std::string_view phrase;
};

// The IANA registry of HTTP status codes, without the unused ones; in the order of the statuses.
constexpr auto kReasons = std::to_array<Reason>({
    {100, "Continue"},
    {101, "Switching Protocols"},
    {102, "Processing"},
    {103, "Early Hints"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {207, "Multi-Status"},
    {208, "Already Reported"},
    {226, "IM Used"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {305, "Use Proxy"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {407, "Proxy Authentication Required"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {423, "Locked"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {451, "Unavailable For Legal Reasons"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {506, "Variant Also Negotiates"},
    {507, "Insufficient Storage"},
    {508, "Loop Detected"},
    {511, "Network Authentication Required"},
});
static_assert(std::ranges::is_sorted(kReasons, {}, &Reason::status));

}  // namespace

std::string_view reason_phrase(int status) {
  const auto* const found = std::ranges::lower_bound(kReasons, status, {}, &Reason::status);
  return found != kReasons.end() && found->status == status ? found->phrase : "";
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
