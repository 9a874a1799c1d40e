#include "admin/request_guard.hpp"

#include <arpa/inet.h>
#include <openssl/crypto.h>

#include "core/digest.hpp"

namespace stet::admin {
namespace {

bool is_ip_address(std::string_view text) {
  in6_addr address{};
  const std::string copy(text);
  return ::inet_pton(AF_INET, copy.c_str(), &address) == 1 ||
         ::inet_pton(AF_INET6, copy.c_str(), &address) == 1;
}

// A rebound name (dns rebinding) is never an address: a browser that was given one connects to just that.
bool host_is_ours(const config::Config& config, const http::RequestHead& head) {
  if (head.minor == 0 && head.fields.count("Host") == 0)
    return true;  // health checks; no browser speaks HTTP/1.0
  const std::string_view name = host_name(head.host());
  return is_ip_address(name) || http::iequals(name, "localhost") || http::iequals(name, config.admin.host) ||
         config.admin_token.has_value();
}

bool origin_is_ours(const http::RequestHead& head) {
  for (const std::string_view origin : head.fields.all("Origin")) {
    const bool same = http::iequals(origin, "http://" + std::string(head.host())) ||
                      http::iequals(origin, "https://" + std::string(head.host()));
    if (!same) return false;
  }
  return true;
}

bool is_health(const http::RequestHead& head) {
  return head.path() == "/livez" || head.path() == "/readyz";
}

bool token_is_right(const std::string& token, const http::RequestHead& head) {
  const auto lines = head.fields.all("Authorization");
  if (lines.size() != 1) return false;
  constexpr std::string_view kScheme = "Bearer ";
  const std::string_view value = lines.front();
  if (value.size() <= kScheme.size() || !http::iequals(value.substr(0, kScheme.size()), kScheme))
    return false;
  return same_secret(value.substr(kScheme.size()), token);
}

bool is_json(const http::RequestHead& head) {
  const auto lines = head.fields.all("Content-Type");
  if (lines.size() != 1) return false;
  std::string_view type = lines.front().substr(0, lines.front().find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return http::iequals(type, "application/json");
}

Answer unauthorized() {
  Answer answer = problem_answer(401, "This port needs `Authorization: Bearer <admin_token>`.");
  answer.headers.push_back({"WWW-Authenticate", "Bearer realm=\"stet\""});
  return answer;
}

}  // namespace

std::string_view host_name(std::string_view host) {
  if (!host.empty() && host.front() == '[') {
    const std::size_t end = host.find(']');
    return end == std::string_view::npos ? host : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

// Equal digests have equal lengths, so that the length of the secret does not show either.
bool same_secret(std::string_view a, std::string_view b) {
  const Digest left = sha256(a);
  const Digest right = sha256(b);
  return CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

std::optional<Answer> refuse(const config::Config& config, const AdminRequest& request) {
  const http::RequestHead& head = request.head;
  if (!host_is_ours(config, head)) {
    return problem_answer(421, "Ask for this port by its address, localhost or its configured name.");
  }
  if (!origin_is_ours(head)) return problem_answer(403, "Pages of other sites may not talk to this port.");
  if (config.admin_token && !is_health(head) && !token_is_right(*config.admin_token, head))
    return unauthorized();
  const bool reads = head.method == "GET" || head.method == "HEAD";
  if (!reads && head.method == "POST" && !is_json(head)) {
    return problem_answer(415, "Changes are sent with `Content-Type: application/json`.");
  }
  return std::nullopt;
}

}  // namespace stet::admin
