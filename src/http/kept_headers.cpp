#include "http/kept_headers.hpp"

#include <algorithm>
#include <array>

#include "http/message.hpp"

namespace stet::http {
namespace {

constexpr std::array<std::string_view, 6> kOfOneMoment{
    "Set-Cookie",         "Set-Cookie2",         "WWW-Authenticate",
    "Proxy-Authenticate", "Authentication-Info", "Proxy-Authentication-Info"};

}  // namespace

bool is_of_one_moment(std::string_view name) {
  return std::ranges::any_of(kOfOneMoment, [name](std::string_view n) { return iequals(n, name); });
}

}  // namespace stet::http
