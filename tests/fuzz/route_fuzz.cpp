// Routes: a path is found by whatever spelling, and a route that is said to be shadowed really never gets a
// request. The input is two matches and a path, one a line.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/route_table.hpp"
#include "http/target.hpp"

namespace {

using namespace stet::config;

void check(bool holds) {
  if (!holds) std::abort();
}

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto earlier = parse_match(take_line(text));
  const auto later = parse_match(take_line(text));
  const std::string_view path = take_line(text);
  Config config;
  for (const auto* match : {&earlier, &later}) {
    if (!*match) continue;
    Route route;
    route.match = **match;
    config.routes.push_back(std::move(route));
  }
  const RouteTable table(config);
  const auto normal = stet::http::normalise_path(path);
  for (const std::string_view method : {"POST", "PUT"}) {
    const Route& found = table.find(method, path);
    if (normal) check(&table.find(method, *normal) == &found);
    if (!earlier || !later) continue;
    if (covers(*earlier, *later, method)) check(&found != &config.routes[1]);
    if (normal) {
      const auto segments = stet::http::path_segments(*normal);
      if (segments && covers(*earlier, *later, method) && matches(*later, method, *segments))
        check(matches(*earlier, method, *segments));
    }
  }
  return 0;
}
