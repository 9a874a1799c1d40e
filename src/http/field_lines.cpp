#include "http/field_lines.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "http/chars.hpp"

namespace stet::http {

std::size_t end_of_value(std::string_view text, std::size_t from) {
  constexpr std::uint64_t ones = 0x0101010101010101ULL;
  constexpr std::uint64_t high = 0x8080808080808080ULL;
  std::size_t i = from;
  while (true) {
    while (i + 8 <= text.size()) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + i, 8);
      const std::uint64_t below_space = (word - ones * 0x20) & ~word & high;
      const std::uint64_t del = word ^ (ones * 0x7f);
      const std::uint64_t is_del = (del - ones) & ~del & high;
      if ((below_space | is_del) != 0) break;
      i += 8;
    }
    const std::size_t stop = std::min(text.size(), i + 8);
    while (i < stop && chars::is(text[i], chars::kValue)) ++i;
    if (i < stop || i == text.size()) return i;
  }
}

namespace {

std::string_view what_is_wrong_in_value(char c) {
  switch (c) {
    case '\0':
      return "a field value holds a NUL";
    case '\n':
      return "a line ends in a bare LF";
    case '\r':
      return "a CR stands without its LF";
    default:
      return "a field value holds a control character";
  }
}

std::string_view what_is_wrong_in_name(std::string_view text, std::size_t end) {
  if (end == 0) {
    if (!text.empty() && text[0] == ':') return "a field has an empty name";
    if (!text.empty() && (text[0] == ' ' || text[0] == '\t')) return "a field line is folded (obs-fold)";
    if (!text.empty() && text[0] == '\r') return "a CR stands without its LF";
  }
  if (end < text.size()) {
    if (text[end] == '_') return "a field name holds an underscore, which some servers take for a hyphen";
    if (text[end] == ' ' || text[end] == '\t') return "whitespace before the colon of a field";
    if (text[end] == '\r' || text[end] == '\n') return "a field line has no colon";
  }
  return "a field name holds a character that is no token character";
}

enum class Connection : std::uint8_t { fine, not_a_list, names_framing };

Connection note_connection(std::string_view value, Framing& framing) {
  Connection verdict = Connection::fine;
  for_each_element(value, [&](std::string_view option) {
    if (!chars::all(option, chars::kToken)) verdict = Connection::not_a_list;
    if (iequals(option, "close")) framing.close = true;
    if (iequals(option, "keep-alive")) framing.keep_alive = true;
    if (iequals(option, "upgrade")) framing.names_upgrade = true;
    if (iequals(option, "content-length") || iequals(option, "transfer-encoding") ||
        iequals(option, "host")) {
      verdict = Connection::names_framing;
    }
  });
  return verdict;
}

// Where a field of this name is noted, if it is one of those that matter here.
Framing::Seen* noted(std::string_view name, Framing& framing) {
  switch (name.size()) {
    case 4:
      return iequals(name, "Host") ? &framing.host : nullptr;
    case 6:
      return iequals(name, "Expect") ? &framing.expect : nullptr;
    case 7:
      return iequals(name, "Upgrade") ? &framing.upgrade : nullptr;
    case 10:
      return iequals(name, "Connection") ? &framing.connection : nullptr;
    case 14:
      return iequals(name, "Content-Length") ? &framing.content_length : nullptr;
    case 17:
      return iequals(name, "Transfer-Encoding") ? &framing.transfer_encoding : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

Expected<FieldLine, WireError> parse_field_line(std::string_view text, MessageKind kind) {
  const std::size_t name_end =
      chars::run(text, 0, kind == MessageKind::request ? chars::kName : chars::kToken);
  if (name_end == 0 || name_end == text.size() || text[name_end] != ':') {
    return malformed(what_is_wrong_in_name(text, name_end));
  }
  FieldLine line;
  line.name = text.substr(0, name_end);
  const std::size_t value_end = end_of_value(text, name_end + 1);
  if (value_end + 1 >= text.size() || text[value_end] != '\r' || text[value_end + 1] != '\n') {
    return malformed(value_end < text.size() ? what_is_wrong_in_value(text[value_end])
                                             : std::string_view("a field line does not end"));
  }
  line.size = value_end + 2;
  line.value = text.substr(name_end + 1, value_end - name_end - 1);
  while (!line.value.empty() && (line.value.front() == ' ' || line.value.front() == '\t'))
    line.value.remove_prefix(1);
  while (!line.value.empty() && (line.value.back() == ' ' || line.value.back() == '\t'))
    line.value.remove_suffix(1);
  return line;
}

Expected<void, WireError> parse_field_lines(std::string_view lines, const HeadLimits& limits,
                                            MessageKind kind, Fields& out, Framing& framing) {
  if (lines.size() > limits.headers + 2) return too_large("the header fields are too large");
  out.lines().reserve(12);
  while (!lines.starts_with("\r\n")) {
    const auto line = parse_field_line(lines, kind);
    if (!line) return tl::unexpected(line.error());
    if (out.lines().size() == limits.fields) return too_large("there are too many header fields");
    if (Framing::Seen* seen = noted(line->name, framing)) {
      ++seen->lines;
      seen->value = line->value;
      if (seen == &framing.connection) {
        const Connection verdict = note_connection(line->value, framing);
        // In an answer neither moves a boundary: the field is dropped, and all framing is written anew.
        if (kind == MessageKind::request && verdict == Connection::not_a_list) {
          return malformed("Connection is not a list of tokens");
        }
        if (kind == MessageKind::request && verdict == Connection::names_framing) {
          return malformed("Connection names Content-Length, Transfer-Encoding or Host");
        }
      }
    }
    Header& added = out.lines().emplace_back();
    added.name = line->name;
    added.value = line->value;
    lines.remove_prefix(line->size);
  }
  if (lines.size() != 2) return malformed("bytes after the empty line of the head");
  return {};
}

std::optional<std::uint64_t> parse_content_length(std::string_view text) {
  if (text.empty() || text.size() > 19) return std::nullopt;  // 19 digits cannot overflow 64 bits
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!chars::is(c, chars::kDigit)) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return value;
}

}  // namespace stet::http
