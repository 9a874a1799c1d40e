#include "probe/request.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <stdexcept>

namespace stet::probe {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

std::uint16_t default_port(Scheme scheme) {
  return scheme == Scheme::https ? 443 : 80;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

template <std::size_t N>
std::array<unsigned char, N> random_bytes() {
  std::array<unsigned char, N> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(N)) != 1) throw std::runtime_error("no random numbers");
  return bytes;
}

}  // namespace

std::string Url::authority() const {
  std::string text = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != default_port(scheme)) text += ":" + std::to_string(port);
  return text;
}

std::string Url::text() const {
  return (scheme == Scheme::https ? "https://" : "http://") + authority() + target;
}

Expected<Url, std::string> parse_url(std::string_view text) {
  const auto wrong = [&](const char* what) {
    return tl::unexpected("'" + std::string(text) + "' is not a URL to probe: " + what);
  };
  Url url;
  std::string_view rest = text;
  if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    url.scheme = Scheme::https;
    rest.remove_prefix(8);
  } else {
    return wrong("it does not start with http:// or https://");
  }
  const std::size_t end = rest.find_first_of("/?#");
  std::string_view authority = rest.substr(0, end);
  if (end != std::string_view::npos) {
    std::string_view target = rest.substr(end);
    target = target.substr(0, target.find('#'));
    url.target = target.starts_with('/') ? std::string(target) : "/" + std::string(target);
  }
  if (authority.find('@') != std::string_view::npos) return wrong("credentials belong in a header");
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return wrong("a bracket is open");
    url.host = authority.substr(1, close - 1);
    authority.remove_prefix(close + 1);
    if (authority.starts_with(':')) port = authority.substr(1);
  } else {
    const std::size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) port = authority.substr(colon + 1);
  }
  if (url.host.empty()) return wrong("it names no host");
  url.port = default_port(url.scheme);
  if (!port.empty()) {
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || stop != port.data() + port.size() || number == 0 || number > 65535) {
      return wrong("the port is not a number from 1 to 65535");
    }
    url.port = static_cast<std::uint16_t>(number);
  }
  for (const char c : url.target) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '\x7f') return wrong("spaces must be written as %20");
  }
  return url;
}

Expected<Url, std::string> resolve_url(std::string_view text, const Url& base) {
  if (!text.starts_with('/')) return parse_url(text);
  Url url = base;
  url.target = text;
  return url;
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

const std::string* find_header(const Headers& headers, std::string_view name) {
  for (const Header& header : headers) {
    if (same_name(header.name, name)) return &header.value;
  }
  return nullptr;
}

void remove_header(Headers& headers, std::string_view name) {
  std::erase_if(headers, [&](const Header& header) { return same_name(header.name, name); });
}

void set_header(Headers& headers, std::string_view name, std::string value) {
  remove_header(headers, name);
  headers.push_back({std::string(name), std::move(value)});
}

bool is_json(const Request& request) {
  const std::string* type = find_header(request.headers, "Content-Type");
  if (type == nullptr) return false;
  std::string media = type->substr(0, type->find(';'));
  while (!media.empty() && media.back() == ' ') media.pop_back();
  std::ranges::transform(media, media.begin(), lower);
  return media == "application/json" || media.ends_with("+json");
}

std::string serialize(const Request& request) {
  std::string out =
      request.method + " " + request.url.target + " HTTP/1.1\r\nHost: " + request.url.authority();
  for (const Header& header : request.headers) out += "\r\n" + header.name + ": " + header.value;
  if (find_header(request.headers, "User-Agent") == nullptr) out += "\r\nUser-Agent: stet-probe";
  if (find_header(request.headers, "Accept") == nullptr) out += "\r\nAccept: */*";
  const bool usually_has_body =
      request.method != "GET" && request.method != "HEAD" && request.method != "DELETE";
  if (usually_has_body || !request.body.empty()) {
    out += "\r\nContent-Length: " + std::to_string(request.body.size());
  }
  return out + "\r\n\r\n" + request.body;
}

Minter::Minter() {
  // Numbers of a second run should not meet those of the first (unique order numbers), and should fit in 32
  // bits.
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  next_ = (seconds.count() % 1'000'000) * 1'000 + 1;
}

Request Minter::mint(const Request& pattern) {
  Request request = pattern;
  const std::string uuid = random_uuid();
  const std::string n = std::to_string(next_++);
  const auto fill = [&](std::string& text) {
    replace_all(text, "{{uuid}}", uuid);
    replace_all(text, "{{n}}", n);
  };
  fill(request.url.target);
  fill(request.body);
  for (Header& header : request.headers) fill(header.value);
  return request;
}

std::string random_uuid() {
  auto bytes = random_bytes<16>();
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0fU) | 0x40U);  // RFC 9562 section 5.4
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3fU) | 0x80U);
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits[bytes[i] >> 4U];
    text += digits[bytes[i] & 0x0fU];
  }
  return text;
}

std::string percent_encoded(std::string_view text, Marks marks) {
  static constexpr std::string_view digits = "0123456789ABCDEF";
  const std::string_view also_plain = marks == Marks::keep ? "-._~{}" : "-._~";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       also_plain.find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4U];
      out += digits[byte & 0x0fU];
    }
  }
  return out;
}

std::string random_word(std::size_t length) {
  static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz012345";
  std::string text;
  while (text.size() < length) {
    for (const unsigned char byte : random_bytes<16>()) {
      if (text.size() < length) text += letters[byte % letters.size()];
    }
  }
  return text;
}

}  // namespace stet::probe
