#pragma once
// Field lines (RFC 9112 section 5), and what of them decides about the message. Internal to stet_http.

#include <optional>
#include <string_view>

#include "http/head_parser.hpp"

namespace stet::http {

// The fields that frame or route a message, as they stood on the wire; views into the head. With more than
// one line the value is that of the last, and nobody may use it.
struct Framing {
  struct Seen {
    std::size_t lines = 0;
    std::string_view value;
  };
  Seen host;
  Seen content_length;
  Seen transfer_encoding;
  Seen upgrade;
  Seen expect;
  Seen connection;
  bool close = false;  // the Connection options
  bool keep_alive = false;
  bool names_upgrade = false;

  // Of a message of HTTP/1.minor (RFC 9112 section 9.3).
  Persistence persistence(int minor) const {
    return !close && (minor == 1 || keep_alive) ? Persistence::keep : Persistence::close;
  }
};

// The first byte from `from` on that no field value may hold, or the size of `text`. Eight bytes at a time:
// long values (tokens, cookies) are most of a head. A tab stops the fast loop, and the slow one lets it pass.
std::size_t end_of_value(std::string_view text, std::size_t from);

struct FieldLine {
  std::string_view name;
  std::string_view value;  // without the whitespace around it
  std::size_t size = 0;    // with its CRLF
};
// The field line at the start of `text`. Requests refuse names with '_': servers that hand fields on as CGI
// variables cannot tell them from '-'.
Expected<FieldLine, WireError> parse_field_line(std::string_view text, MessageKind);

// `lines` ends with the empty line.
Expected<void, WireError> parse_field_lines(std::string_view lines, const HeadLimits&, MessageKind,
                                            Fields& out, Framing& framing);

// Digits only, at most 63 bits (RFC 9110 section 8.6).
std::optional<std::uint64_t> parse_content_length(std::string_view);

// Calls `f` with each element of a comma-separated list, empty ones left out (RFC 9110 section 5.6.1.2).
template <class F>
void for_each_element(std::string_view list, F f) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view element = list.substr(0, comma);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    while (!element.empty() && (element.front() == ' ' || element.front() == '\t')) element.remove_prefix(1);
    while (!element.empty() && (element.back() == ' ' || element.back() == '\t')) element.remove_suffix(1);
    if (!element.empty()) f(element);
  }
}

inline tl::unexpected<WireError> malformed(std::string_view detail) {
  return tl::unexpected(WireError{WireErrorKind::malformed, detail});
}
inline tl::unexpected<WireError> unsupported(std::string_view detail) {
  return tl::unexpected(WireError{WireErrorKind::unsupported, detail});
}
inline tl::unexpected<WireError> too_large(std::string_view detail) {
  return tl::unexpected(WireError{WireErrorKind::too_large, detail});
}

}  // namespace stet::http
