#pragma once
// Which route a request takes. The first match wins; no match is [defaults].
//
// A path is compared segment by segment, in the normal form of http/target.hpp: /%63harges is /charges and
// /a/%2e%2e/b is /b, but an encoded slash (%2F) stays inside its segment. A trailing slash is an empty last
// segment, and thus another path. Case matters (RFC 3986 section 6.2.2.1).

#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "stet/error.hpp"

namespace stet::config {

// "METHOD[,METHOD] /path"; the error says what is wrong and what was meant.
Expected<Match, std::string> parse_match(std::string_view text);

// `segments` of the request's path, decoded.
bool matches(const Match&, std::string_view method, const std::vector<std::string>& segments);
// Every request that `later` matches with `method` is already matched by `earlier`.
bool covers(const Match& earlier, const Match& later, std::string_view method);

// Looks at a Config, which must outlive it.
class RouteTable {
 public:
  explicit RouteTable(const Config& config) : config_(config) {}
  // `path` as it came, without its query. One with a broken escape is compared as it stands.
  const Route& find(std::string_view method, std::string_view path) const;

 private:
  const Config& config_;
};

}  // namespace stet::config
