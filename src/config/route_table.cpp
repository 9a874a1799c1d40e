#include "config/route_table.hpp"

#include <algorithm>

#include "config/units.hpp"
#include "http/target.hpp"

namespace stet::config {
namespace {

using Kind = Match::Segment::Kind;

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end == text.npos ? text.npos : end - begin));
    if (end == text.npos) return parts;
    begin = end + 1;
  }
}

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::string pattern_error(std::string_view pattern) {
  if (pattern.find_first_of("?#") != pattern.npos)
    return "a route is matched on the path alone, without a query or fragment";
  if (!http::normalise_path(pattern)) return "a broken percent escape in the path";
  if (*http::normalise_path(pattern) != pattern && pattern.find("//") != pattern.npos)
    return "requests are compared with repeated slashes as one: one slash was meant";
  return {};
}

std::vector<std::string> request_segments(std::string_view path) {
  if (const auto normal = http::normalise_path(path))
    if (auto segments = http::path_segments(*normal)) return std::move(*segments);
  return split(path.substr(path.starts_with('/') ? 1 : 0), '/');
}

}  // namespace

Expected<Match, std::string> parse_match(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == text.npos || text.substr(space + 1).empty())
    return unexpected<std::string>("a match is a method and a path: \"POST /charges\" was meant?");
  Match match;
  for (const std::string& method : split(text.substr(0, space), ',')) {
    if (!is_token(method) || method.find('*') != method.npos)
      return unexpected<std::string>("\"" + method +
                                     "\" is no method: \"POST\" or \"POST,PATCH\" was meant, without spaces");
    if (upper(method) != method)
      return unexpected<std::string>("methods are case-sensitive (RFC 9110): \"" + upper(method) +
                                     "\" was meant");
    if (std::find(match.methods.begin(), match.methods.end(), method) != match.methods.end())
      return unexpected<std::string>("the method " + method + " is named twice");
    match.methods.push_back(method);
  }
  match.pattern = text.substr(space + 1);
  if (!match.pattern.starts_with('/'))
    return unexpected<std::string>("the path of a match begins with a slash: \"/" + match.pattern +
                                   "\" was meant?");
  if (std::string error = pattern_error(match.pattern); !error.empty())
    return unexpected<std::string>(std::move(error));
  const auto parts = split(std::string_view(match.pattern).substr(1), '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string& part = parts[i];
    if (part == "*") {
      match.segments.push_back({Kind::any, {}});
    } else if (part == "**") {
      if (i + 1 != parts.size())
        return unexpected<std::string>("\"**\" is the rest of the path, and stands at its end");
      match.segments.push_back({Kind::rest, {}});
    } else if (part.find('*') != part.npos) {
      return unexpected<std::string>("\"*\" is a whole segment, and cannot stand for a part of \"" + part +
                                     "\"");
    } else {
      const auto decoded = http::percent_decode(part);
      if (!decoded) return unexpected<std::string>("a broken percent escape in \"" + part + "\"");
      if (*decoded == "." || *decoded == "..")
        return unexpected<std::string>("requests are compared with dot segments resolved: \"" + part +
                                       "\" can never match");
      match.segments.push_back({Kind::literal, *decoded});
    }
  }
  return match;
}

bool matches(const Match& match, std::string_view method, const std::vector<std::string>& segments) {
  if (std::find(match.methods.begin(), match.methods.end(), method) == match.methods.end()) return false;
  for (std::size_t i = 0; i < match.segments.size(); ++i) {
    const Match::Segment& wanted = match.segments[i];
    if (i == segments.size()) return false;
    if (wanted.kind == Kind::rest) return true;
    // An empty segment is a trailing slash: another path, and nothing that "*" could stand for.
    if (wanted.kind == Kind::any ? segments[i].empty() : segments[i] != wanted.text) return false;
  }
  return match.segments.size() == segments.size();
}

bool covers(const Match& earlier, const Match& later, std::string_view method) {
  if (std::find(earlier.methods.begin(), earlier.methods.end(), method) == earlier.methods.end())
    return false;
  for (std::size_t i = 0; i < earlier.segments.size(); ++i) {
    if (i == later.segments.size()) return false;
    const Match::Segment& a = earlier.segments[i];
    const Match::Segment& b = later.segments[i];
    if (a.kind == Kind::rest) return true;
    if (b.kind == Kind::rest) return false;
    if (a.kind == Kind::any ? b.kind == Kind::literal && b.text.empty() : a != b) return false;
  }
  return earlier.segments.size() == later.segments.size();
}

const Route& RouteTable::find(std::string_view method, std::string_view path) const {
  if (config_.routes.empty()) return config_.defaults;
  const std::vector<std::string> segments = request_segments(path);
  for (const Route& route : config_.routes)
    if (route.match && matches(*route.match, method, segments)) return route;
  return config_.defaults;
}

}  // namespace stet::config
