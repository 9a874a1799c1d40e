#include <charconv>
#include <optional>

#include "config/units.hpp"

namespace stet::config {
namespace {

std::string quoted(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

// A name, an IPv4 address, or what stands between the brackets of an IPv6 one.
bool is_host(std::string_view host) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  return !host.empty() && host.size() <= 253 && host.find_first_not_of(kLetters) == host.npos;
}
bool is_bracketed_host(std::string_view host) {
  return !host.empty() && host.find_first_not_of("0123456789abcdefABCDEF:.") == host.npos &&
         host.find(':') != host.npos;
}

struct HostPort {
  std::string_view host;
  std::optional<std::string_view> port;
};

// "host", "host:port", "[::1]", "[::1]:port"; nothing when it is none of them.
std::optional<HostPort> split_host_port(std::string_view text) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == text.npos || !is_bracketed_host(text.substr(1, close - 1))) return std::nullopt;
    const std::string_view rest = text.substr(close + 1);
    if (rest.empty()) return HostPort{text.substr(1, close - 1), std::nullopt};
    if (!rest.starts_with(':')) return std::nullopt;
    return HostPort{text.substr(1, close - 1), rest.substr(1)};
  }
  const std::size_t colon = text.find(':');
  if (!is_host(text.substr(0, colon))) return std::nullopt;
  if (colon == text.npos) return HostPort{text, std::nullopt};
  return HostPort{text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

Expected<Endpoint, std::string> parse_endpoint(std::string_view text) {
  if (text.find("://") != text.npos)
    return unexpected<std::string>(quoted(text) +
                                   " is a URL; host:port was meant, such as \"127.0.0.1:8080\"");
  if (text.starts_with(':'))
    return unexpected<std::string>(quoted(text) + " names no host: \"127.0.0.1" + std::string(text) +
                                   "\", or \"0.0.0.0" + std::string(text) +
                                   "\" for every interface, was meant");
  if (!text.starts_with('[') && text.find(':') != text.rfind(':'))
    return unexpected<std::string>("an IPv6 address stands in brackets: \"[" + std::string(text) +
                                   "]:8080\" was meant?");
  const auto parts = split_host_port(text);
  if (!parts || !parts->port)
    return unexpected<std::string>(quoted(text) + " is not host:port, such as \"127.0.0.1:8080\"");
  const auto port = parse_port(*parts->port);
  if (!port)
    return unexpected<std::string>(quoted(*parts->port) +
                                   " is no port: 0 (the system picks one) to 65535 was meant");
  return Endpoint{std::string(parts->host), *port};
}

bool is_loopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos;
}

Expected<UpstreamUrl, std::string> parse_url(std::string_view text, UrlQuery query) {
  UpstreamUrl url;
  url.text = text;
  std::string_view rest = text;
  if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    url.scheme = UpstreamUrl::Scheme::https;
    url.port = 443;
    rest.remove_prefix(8);
  } else {
    return unexpected<std::string>(quoted(text) +
                                   " is no http:// or https:// URL, such as \"http://127.0.0.1:3000\"");
  }
  for (const char c : text)
    if (c <= ' ' || c == 0x7f) return unexpected<std::string>("a URL has no spaces or control characters");
  const std::size_t slash = rest.find_first_of("/?#");
  const std::string_view authority = rest.substr(0, slash);
  std::string_view path = slash == rest.npos ? std::string_view() : rest.substr(slash);
  if (authority.find('@') != authority.npos)
    return unexpected<std::string>("a URL with a user name or password is not supported");
  const auto parts = split_host_port(authority);
  if (!parts) return unexpected<std::string>(quoted(authority) + " is no host, in " + quoted(text));
  url.host = parts->host;
  if (parts->port) {
    const auto port = parse_port(*parts->port);
    if (!port || *port == 0)
      return unexpected<std::string>(quoted(*parts->port) + " is no port: 1 to 65535 was meant");
    url.port = *port;
  }
  if (path.find('#') != path.npos)
    return unexpected<std::string>("a URL with a fragment (#) makes no sense here");
  if (query == UrlQuery::refused) {
    if (path.find('?') != path.npos)
      return unexpected<std::string>("a URL with a query (?) makes no sense here");
    while (path.ends_with('/')) path.remove_suffix(1);
  } else if (!path.starts_with('/')) {
    url.path = "/";
  }
  url.path += path;
  return url;
}

Expected<std::string, std::string> check_store(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view scheme = colon == text.npos ? std::string_view() : text.substr(0, colon);
  if (scheme == "sqlite") {
    std::string_view path = text.substr(colon + 1);
    if (path.starts_with("//"))
      return unexpected<std::string>(
          "a store in a file is sqlite:PATH, without slashes before it: \"sqlite:" +
          std::string(path.substr(2)) + "\" was meant?");
    if (path.empty())
      return unexpected<std::string>("\"sqlite:\" names no file: \"sqlite:stet.db\" was meant?");
    if (path == ":memory:")
      return unexpected<std::string>("a store in memory forgets every claim; sqlite:PATH was meant");
    return std::string(text);
  }
  if (scheme == "postgresql" || scheme == "postgres") {
    if (!is_postgres_store(text))
      return unexpected<std::string>(std::string(scheme) + ":// was meant, with two slashes: \"postgresql://host/database\"");
    return std::string(text);
  }
  for (const std::string_view later : {"redis", "rediss", "redis-cluster"})
    if (scheme == later)
      return unexpected<std::string>("a " + std::string(later) +
                                     ": store is not in this release; sqlite:PATH and postgresql://host/database are");
  // Whatever it is, it may hold a password.
  return unexpected<std::string>(
      (text.find('@') == text.npos ? quoted(text) + " is" : std::string("this is")) +
      " no store: sqlite:PATH was meant, such as \"sqlite:stet.db\", or postgresql://host/database");
}

bool is_postgres_store(std::string_view url) {
  return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

}  // namespace stet::config
