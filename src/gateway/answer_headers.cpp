#include "gateway/answer_headers.hpp"

#include <algorithm>

#include "http/kept_headers.hpp"
#include "http/serialize.hpp"

namespace stet::gateway {
namespace {

bool names(const std::vector<std::string>& list, std::string_view name) {
  return std::any_of(list.begin(), list.end(), [name](const std::string& n) { return http::iequals(n, name); });
}

// An upstream that joins writes its lines into the record itself: framing is made anew for each caller, and what the
// gateway says of an answer only the gateway says.
bool is_ours(std::string_view name) {
  return http::is_hop_by_hop(name) || http::istarts_with(name, "stet-") || http::iequals(name, "Idempotent-Replayed");
}

bool replayable(std::string_view name, const config::Route& route) {
  if (is_ours(name)) return false;
  if (names(route.drop_headers, name)) return false;
  return !http::is_of_one_moment(name) || names(route.keep_headers, name);
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
