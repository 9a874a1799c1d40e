#include "gateway/answer_headers.hpp"

#include <algorithm>
#include <array>

#include "http/serialize.hpp"

namespace stet::gateway {
namespace {

// RFC 6265; RFC 9110 section 11.6 and 11.7; RFC 2617's successor 7615.
constexpr std::array<std::string_view, 6> kOfOneMoment{
    "Set-Cookie",          "Set-Cookie2",        "WWW-Authenticate",
    "Proxy-Authenticate",  "Authentication-Info", "Proxy-Authentication-Info"};

bool names(const std::vector<std::string>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [name](const std::string& n) { return http::iequals(n, name); });
}

bool replayable(std::string_view name, const config::Route& route) {
  if (names(route.drop_headers, name)) return false;
  const bool of_one_moment = std::any_of(kOfOneMoment.begin(), kOfOneMoment.end(),
                                         [name](std::string_view n) { return http::iequals(n, name); });
  return !of_one_moment || names(route.keep_headers, name);
}

}  // namespace

Headers own_caller_headers(const http::Fields& fields) { return http::end_to_end(fields); }

Headers stored_headers(const Headers& lines, const config::Route& route) {
  Headers stored;
  stored.reserve(lines.size());
  for (const Header& line : lines) {
    if (replayable(line.name, route)) stored.push_back(line);
  }
  return stored;
}

bool all_stored(const Headers& lines, const config::Route& route) {
  return std::all_of(lines.begin(), lines.end(), [&](const Header& line) { return replayable(line.name, route); });
}

Headers replayed_headers(const Headers& lines, const config::Route& route) { return stored_headers(lines, route); }

}  // namespace stet::gateway
