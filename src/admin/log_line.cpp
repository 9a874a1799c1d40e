#include "admin/log_line.hpp"

#include <array>
#include <cstdio>

#include "admin/json_text.hpp"
#include "core/digest.hpp"
#include "http/date.hpp"

namespace stet::admin {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;

// A path is as long as limits.request_line allows; a log line need not be.
constexpr std::size_t kLongestPath = 512;

std::string_view level_name(Level level) {
  switch (level) {
    case Level::info:
      return "info";
    case Level::warning:
      return "warning";
    case Level::error:
      return "error";
  }
  return "info";
}

std::string shown_key(std::string_view key, config::LogKeys keys) {
  switch (keys) {
    case config::LogKeys::hash:
      return key_hash(key);
    case config::LogKeys::full:
      return std::string(key);
    case config::LogKeys::none:
      break;
  }
  return "*";
}

// Without the query; a segment that is the key is shown as keys are.
std::string shown_path(const RequestLine& line, config::LogKeys keys) {
  std::string_view path = line.path.substr(0, line.path.find('?'));
  std::string shown;
  if (line.key_segment == 0) {
    shown = path;
  } else {
    std::size_t segment = 0;
    while (!path.empty()) {
      const std::size_t end = path.find('/', path.front() == '/' ? 1 : 0);
      std::string_view part = path.substr(0, end);
      if (!part.empty() && part.front() == '/') {
        shown += '/';
        part.remove_prefix(1);
      }
      ++segment;
      shown += segment == line.key_segment ? shown_key(part, keys) : std::string(part);
      path.remove_prefix(end == std::string_view::npos ? path.size() : end);
    }
  }
  if (shown.size() > kLongestPath) shown.resize(kLongestPath);
  return shown;
}

std::int64_t micros(std::chrono::nanoseconds elapsed) {
  return duration_cast<microseconds>(elapsed).count();
}

// For people's eyes and terminals: no line breaks, no escape sequences.
void append_printable(std::string& out, std::string_view text) {
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
}

std::string millis(std::chrono::nanoseconds elapsed) {
  std::array<char, 32> text;
  const int size =
      std::snprintf(text.data(), text.size(), "%.1fms", static_cast<double>(micros(elapsed)) / 1000.0);
  return std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

std::string key_hash(std::string_view key) {
  return to_hex(sha256(key)).substr(0, 16);
}

std::string json_line(const RequestLine& line, config::LogKeys keys, WallTime now) {
  JsonObject out;
  out.add("time", http::rfc3339(now));
  out.add("level", "info");
  out.add("event", "request");
  if (line.operation) out.add("operation", line.operation->text());
  if (!line.scope.empty()) out.add("scope", line.scope);
  if (!line.key.empty() && keys == config::LogKeys::full) out.add("key", line.key);
  if (!line.key.empty() && keys == config::LogKeys::hash) out.add("key_hash", key_hash(line.key));
  out.add("method", line.method);
  out.add("path", shown_path(line, keys));
  if (!line.route.empty()) out.add("route", line.route);
  out.add("status", line.status);
  if (line.outcome) out.add("outcome", name(*line.outcome));
  if (line.problem) out.add("problem", name(*line.problem));
  if (line.attempt != 0) out.add("attempt", line.attempt);
  if (line.upstream_status) out.add("upstream_status", *line.upstream_status);
  out.add_millis("duration_ms", micros(line.duration));
  if (line.upstream) out.add_millis("upstream_ms", micros(*line.upstream));
  if (line.store) out.add_millis("store_ms", micros(*line.store));
  if (!line.why.empty()) out.add("why", line.why);
  return out.take();
}

std::string text_line(const RequestLine& line, config::LogKeys keys, WallTime now) {
  std::string out = http::rfc3339(now);
  out += ' ';
  append_printable(out, line.method);
  out += ' ';
  append_printable(out, shown_path(line, keys));
  out += line.status == 0 ? " -" : " " + std::to_string(line.status);
  if (line.outcome) out.append(" ").append(name(*line.outcome));
  if (line.problem) out.append(" ").append(name(*line.problem));
  out.append(" ").append(millis(line.duration));
  if (line.upstream) out.append(" upstream=").append(millis(*line.upstream));
  if (line.store) out.append(" store=").append(millis(*line.store));
  if (line.upstream_status) out.append(" upstream_status=").append(std::to_string(*line.upstream_status));
  if (line.operation) out.append(" operation=").append(line.operation->text());
  if (line.attempt > 1) out.append(" attempt=").append(std::to_string(line.attempt));
  if (!line.key.empty() && keys != config::LogKeys::none) {
    out += " key=";
    append_printable(out, shown_key(line.key, keys));
  }
  if (!line.why.empty()) {
    out += ": ";
    append_printable(out, line.why);
  }
  return out;
}

std::string json_event(Level level, std::string_view event, std::string_view message,
                       std::initializer_list<Field> fields, WallTime now) {
  JsonObject out;
  out.add("time", http::rfc3339(now));
  out.add("level", level_name(level));
  out.add("event", event);
  out.add("message", message);
  for (const Field& field : fields) {
    std::visit([&](const auto& value) { out.add(field.name, value); }, field.value);
  }
  return out.take();
}

std::string text_event(Level level, std::string_view event, std::string_view message,
                       std::initializer_list<Field> fields, WallTime now) {
  std::string out = http::rfc3339(now);
  if (level != Level::info) out.append(" ").append(level_name(level));
  out.append(" ").append(event).append(": ");
  append_printable(out, message);
  for (const Field& field : fields) {
    out.append(" ").append(field.name).append("=");
    if (const auto* text = std::get_if<std::string_view>(&field.value)) {
      append_printable(out, *text);
    } else {
      out += std::to_string(std::get<std::int64_t>(field.value));
    }
  }
  return out;
}

}  // namespace stet::admin
