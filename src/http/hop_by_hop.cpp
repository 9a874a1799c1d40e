#include "http/hop_by_hop.hpp"

#include <algorithm>

#include "http/field_lines.hpp"
#include "http/serialize.hpp"

namespace stet::http {

bool is_hop_by_hop(std::string_view name) {
  switch (name.size()) {
    case 2:
      return iequals(name, "TE");
    case 7:
      return iequals(name, "Trailer") || iequals(name, "Upgrade");
    case 10:
      return iequals(name, "Connection") || iequals(name, "Keep-Alive");
    case 14:
      return iequals(name, "Content-Length") || iequals(name, "HTTP2-Settings");
    case 16:
      return iequals(name, "Proxy-Connection");
    case 17:
      return iequals(name, "Transfer-Encoding");
    case 18:
      return iequals(name, "Proxy-Authenticate");
    case 19:
      return iequals(name, "Proxy-Authorization");
    case 25:
      return iequals(name, "Proxy-Authentication-Info");
    default:
      return false;
  }
}

ConnectionOptions::ConnectionOptions(std::span<const Header> lines) {
  for (const Header& line : lines) {
    if (line.name.size() != 10 || !iequals(line.name, "Connection")) continue;
    for_each_element(line.value, [&](std::string_view option) {
      if (!iequals(option, "close") && !iequals(option, "keep-alive")) names_.push_back(option);
    });
  }
}

bool ConnectionOptions::name(std::string_view field) const {
  return std::ranges::any_of(names_, [&](std::string_view option) { return iequals(option, field); });
}

Headers end_to_end(const Fields& fields) {
  const ConnectionOptions options(fields.lines());
  Headers kept;
  kept.reserve(fields.lines().size());
  for (const Header& line : fields.lines()) {
    if (is_hop_by_hop(line.name) || options.name(line.name) || istarts_with(line.name, "Stet-") ||
        iequals(line.name, "Idempotent-Replayed")) {
      continue;
    }
    kept.push_back(line);
  }
  return kept;
}

void append_line(std::string& out, std::string_view name, std::string_view value) {
  // One growth and plain copies: this is most of what writing a head costs.
  const std::size_t begin = out.size();
  out.resize(begin + name.size() + value.size() + 4);
  char* to = std::copy(name.begin(), name.end(), out.data() + begin);
  *to++ = ':';
  *to++ = ' ';
  char* const value_begin = to;
  to = std::copy(value.begin(), value.end(), to);
  *to++ = '\r';
  *to++ = '\n';
  std::size_t bad = end_of_value(value, 0);
  while (bad < value.size()) [[unlikely]] {
    value_begin[bad] = ' ';
    bad = end_of_value(value, bad + 1);
  }
}

}  // namespace stet::http
