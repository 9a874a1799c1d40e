#include "admin/contract.hpp"

namespace stet::admin {
namespace {

// Enough of content negotiation (RFC 9110 section 12.5.1) for two forms: browsers name text/html, programs
// application/json or nothing. Whoever takes both gets what it names first.
bool wants_html(std::string_view accept) {
  const std::size_t html = accept.find("text/html");
  const std::size_t json = accept.find("application/json");
  return html != std::string_view::npos && (json == std::string_view::npos || html < json);
}

}  // namespace

Answer contract_answer(const config::Config& config, std::string_view accept) {
  const bool html = wants_html(accept);
  Answer answer;
  answer.status = 200;
  answer.headers = {{"Content-Type", html ? "text/html; charset=utf-8" : "application/json"},
                    {"Cache-Control", "no-cache"},
                    {"Vary", "Accept"},
                    {"X-Content-Type-Options", "nosniff"}};
  if (html)
    answer.headers.push_back({"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"});
  answer.body = html ? contract_html(config) : contract_json(config);
  return answer;
}

}  // namespace stet::admin
