#include "probe/settings.hpp"

#include <algorithm>
#include <charconv>

#include "probe/json.hpp"

namespace stet::probe {

Expected<Request, std::string> parse_request_line(const std::string& text, const std::string& method,
                                                  const Url& base) {
  Request request;
  request.method = method;
  std::string url = text;
  if (const std::size_t space = text.find(' '); space != std::string::npos) {
    request.method = text.substr(0, space);
    url = text.substr(text.find_first_not_of(' ', space));
  }
  const bool token = !request.method.empty() &&
                     std::ranges::all_of(request.method, [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!token)
    return tl::unexpected("'" + text + "': the method is written in capitals, as in 'POST http://host/path'");
  auto resolved = resolve_url(url, base);
  if (!resolved) return tl::unexpected(resolved.error());
  request.url = *resolved;
  return request;
}

Expected<Header, std::string> parse_header_line(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string::npos || text.find_first_of("\r\n") != std::string::npos) {
    return tl::unexpected("'" + text + "' is not a header: write 'Name: value'");
  }
  const std::size_t begin = text.find_first_not_of(" \t", colon + 1);
  return Header{text.substr(0, colon), begin == std::string::npos ? "" : text.substr(begin)};
}

Expected<std::chrono::milliseconds, std::string> parse_duration(const std::string& text) {
  std::int64_t count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string unit(stop, text.data() + text.size());
  const std::int64_t factor = unit == "ms"  ? 1
                              : unit == "s" ? 1'000
                              : unit == "m" ? 60'000
                              : unit == "h" ? 3'600'000
                                            : 0;
  constexpr std::int64_t longest = std::int64_t{30} * 24 * 3'600'000;
  if (error != std::errc() || factor == 0 || count < 0 || count > longest / factor) {
    return tl::unexpected("'" + text +
                          "' is not a duration: write a whole number and ms, s, m or h, as in '30s'");
  }
  return std::chrono::milliseconds(count * factor);
}

Expected<Endpoint, std::string> parse_endpoint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  if (colon == 0 || colon == std::string::npos) return tl::unexpected("'" + text + "' is not HOST:PORT");
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc() || stop != end) return tl::unexpected("'" + text + "' is not HOST:PORT");
  return Endpoint{text.substr(0, colon), port};
}

void complete_content_type(Request& request) {
  if (request.body.empty() || find_header(request.headers, "Content-Type") != nullptr) return;
  std::string sample = Minter().mint(request).body;
  set_header(request.headers, "Content-Type",
             is_json_text(sample) ? "application/json" : "application/x-www-form-urlencoded");
}

}  // namespace stet::probe
