#include "probe/meaning.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

#include "probe/json.hpp"

namespace stet::probe {
namespace {

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool counts(const Header& header) {
  static constexpr std::array<std::string_view, 34> ignored = {
      "date", "set-cookie", "age", "server-timing", "expires", "last-modified",
      // Of the single request, not of the operation.
      "request-id", "x-request-id", "x-correlation-id", "correlation-id", "x-trace-id", "traceparent",
      "tracestate", "x-amzn-requestid", "x-amzn-trace-id", "x-amz-cf-id", "cf-ray", "x-runtime",
      "x-response-time", "via",
      // Hop-by-hop, and framing (RFC 9110 section 7.6.1).
      "connection", "keep-alive", "proxy-connection", "transfer-encoding", "content-length", "te", "trailer",
      "upgrade",
      // Replay markers.
      "idempotent-replayed", "idempotency-replayed", "idempotency-replay", "original-request", "retry-after",
      "x-cache"};
  const std::string name = lower_case(header.name);
  if (std::ranges::find(ignored, name) != ignored.end()) return false;
  for (const std::string_view prefix : {"stet-", "x-idempoten", "ratelimit", "x-ratelimit", "x-rate-limit"}) {
    if (name.starts_with(prefix)) return false;
  }
  return true;
}

std::vector<std::pair<std::string, std::string>> counted(const Headers& headers,
                                                         const std::vector<std::string>& ignored) {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Header& header : headers) {
    const auto is_ignored = [&](const std::string& name) { return same_name(name, header.name); };
    if (counts(header) && std::ranges::none_of(ignored, is_ignored))
      lines.emplace_back(lower_case(header.name), header.value);
  }
  std::ranges::sort(lines);
  return lines;
}

std::string shown(const std::string& body) {
  Response response;
  response.body = body;
  return brief(response).substr(2);
}

}  // namespace

bool is_success(int status) {
  return (status >= 200 && status < 300) || status == 303;
}

Meaning meaning(const Response& response, int success_status) {
  const int status = response.status;
  if (status == success_status) return Meaning::success;
  if (status == 202) return Meaning::in_progress;
  if (is_success(status)) return Meaning::success;
  const std::optional<bool> retryable = json_flag(response.body, "retryable");
  if (status == 409 || status >= 500) {
    const std::string* outcome = find_header(response.headers, "Stet-Outcome");
    const bool says_unknown = (outcome != nullptr && *outcome == "unknown") ||
                              lower_case(response.body).find("unknown") != std::string::npos;
    if (says_unknown && retryable != true) return Meaning::unknown;
  }
  if (retryable == false) return status < 500 ? Meaning::refused : Meaning::broken;
  switch (status) {
    case 409:
    case 423:
    case 425:
      return Meaning::in_progress;
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return Meaning::try_later;
    default:
      return status >= 400 && status < 500 ? Meaning::refused : Meaning::broken;
  }
}

bool is_replay_marked(const Response& response) {
  return std::ranges::any_of(response.headers, [](const Header& header) {
    const std::string name = lower_case(header.name);
    const bool marker = name == "idempotent-replayed" || name == "idempotency-replayed" ||
                        name == "x-idempotent-replayed" || name == "x-idempotency-replayed" ||
                        name == "idempotency-replay";
    return marker && lower_case(header.value) != "false";
  });
}

std::string difference(const Response& first, const Response& second,
                       const std::vector<std::string>& ignored) {
  std::string text;
  const auto note = [&](const std::string& line) { text += (text.empty() ? "" : "; ") + line; };
  if (first.status != second.status) {
    note("status " + std::to_string(first.status) + " became " + std::to_string(second.status));
  }
  if (first.body != second.body) {
    const auto same = std::ranges::mismatch(first.body, second.body);
    const auto at = same.in1 - first.body.begin();
    note(first.body.size() == second.body.size() || at != 0
             ? "the body differs from byte " + std::to_string(at) + " on (" +
                   std::to_string(first.body.size()) + " bytes, then " + std::to_string(second.body.size()) +
                   ": " + shown(second.body) + ")"
             : "the body is another one: " + shown(second.body));
  }
  const auto before = counted(first.headers, ignored);
  const auto after = counted(second.headers, ignored);
  const auto has = [](const auto& lines, const auto& line) {
    return std::ranges::find(lines, line) != lines.end();
  };
  for (const auto& line : before) {
    if (has(after, line)) continue;
    const auto other = std::ranges::find(after, line.first, [](const auto& entry) { return entry.first; });
    note(other == after.end()
             ? "the header " + line.first + " is gone"
             : "the header " + line.first + " was '" + line.second + "' and is '" + other->second + "'");
  }
  for (const auto& line : after) {
    const bool known =
        std::ranges::find(before, line.first, [](const auto& entry) { return entry.first; }) != before.end();
    if (!known) note("there is a new header " + line.first);
  }
  return text;
}

std::string lacking(const Response& plain, const Response& answer, const std::vector<std::string>& ignored) {
  if (plain.status != answer.status) {
    return "status " + std::to_string(answer.status) + " where a plain request gets " +
           std::to_string(plain.status);
  }
  if (!plain.body.empty() && answer.body.empty()) return "without the body";
  for (const auto& [name, value] : counted(plain.headers, ignored)) {
    if (find_header(answer.headers, name) == nullptr) return "without the header " + name;
  }
  return "";
}

bool leaks(const Response& first, const Response& answer, const std::vector<std::string>& innocent) {
  constexpr std::size_t telling = 8;  // shorter values meet by chance
  // The gateway's own handle of the operation, which upstreams are sent and may show; it opens nothing.
  const std::string* operation = find_header(answer.headers, "Stet-Operation");
  const auto stands_elsewhere = [&](const std::string& value) {
    if (operation != nullptr && operation->find(value) != std::string::npos) return true;
    return std::ranges::any_of(
        innocent, [&](const std::string& text) { return text.find(value) != std::string::npos; });
  };
  if (first.body.size() >= telling && answer.body.find(first.body) != std::string::npos) {
    return !stands_elsewhere(first.body);
  }
  for (const std::string& value : json_scalars(first.body)) {
    if (value.size() >= telling && answer.body.find(value) != std::string::npos && !stands_elsewhere(value))
      return true;
  }
  return false;
}

}  // namespace stet::probe
