#include "http/target.hpp"

#include "http/chars.hpp"

namespace stet::http {

namespace {

// The byte that the escape at text[i] stands for; nothing when it is none.
std::optional<char> escaped(std::string_view text, std::size_t i) {
  if (i + 2 >= text.size() || !chars::is(text[i + 1], chars::kHex) || !chars::is(text[i + 2], chars::kHex)) {
    return std::nullopt;
  }
  return static_cast<char>(chars::hex_value(text[i + 1]) << 4 | chars::hex_value(text[i + 2]));
}

enum class Plus : std::uint8_t { itself, space };

std::optional<std::string> decode(std::string_view text, Plus plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const auto byte = escaped(text, i);
      if (!byte) return std::nullopt;
      out += *byte;
      i += 2;
    } else {
      out += text[i] == '+' && plus == Plus::space ? ' ' : text[i];
    }
  }
  return out;
}

// Decoded, except for what would then be read as a separator or as an escape.
std::optional<std::string> decode_for_matching(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      out += path[i];
      continue;
    }
    const auto byte = escaped(path, i);
    if (!byte || *byte == '\0') return std::nullopt;
    if (*byte == '/') {
      out += "%2F";
    } else if (*byte == '%') {
      out += "%25";
    } else {
      out += *byte;
    }
    i += 2;
  }
  return out;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) {
  return decode(text, Plus::itself);
}

std::optional<std::string> normalise_path(std::string_view path) {
  const auto decoded = decode_for_matching(path);
  if (!decoded) return std::nullopt;
  std::string out = "/";
  std::string_view rest = *decoded;
  while (!rest.empty()) {
    const std::size_t slash = rest.find('/');
    const bool last = slash == std::string_view::npos;
    const std::string_view segment = rest.substr(0, slash);
    rest.remove_prefix(last ? rest.size() : slash + 1);
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {  // RFC 3986 section 5.2.4: never above the root
      if (out.size() > 1) out.pop_back();
      out.resize(out.rfind('/') + 1);
      continue;
    }
    out += segment;
    if (!last) out += '/';
  }
  return out;
}

std::optional<std::vector<std::string>> path_segments(std::string_view path) {
  std::vector<std::string> segments;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    auto segment = percent_decode(path.substr(0, slash));
    if (!segment) return std::nullopt;
    segments.push_back(std::move(*segment));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

std::optional<std::vector<std::string>> query_values(std::string_view query, std::string_view name) {
  std::vector<std::string> values;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    const std::size_t equals = pair.find('=');
    const auto key = decode(pair.substr(0, equals), Plus::space);
    if (!key) return std::nullopt;
    auto value =
        equals == std::string_view::npos ? std::string() : decode(pair.substr(equals + 1), Plus::space);
    if (!value) return std::nullopt;
    if (*key == name && !pair.empty()) values.push_back(std::move(*value));
  }
  return values;
}

std::string join_target(std::string_view upstream_path, std::string_view target) {
  if (target == "*") return std::string(target);
  while (upstream_path.ends_with('/')) upstream_path.remove_suffix(1);
  return std::string(upstream_path).append(target);
}

}  // namespace stet::http
