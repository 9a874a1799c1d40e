#include "gateway/auth.hpp"

#include <array>

#include "gateway/forwarding.hpp"
#include "gateway/subrequest.hpp"

namespace stet::gateway {
namespace {

// Of the body, which is not sent along, and of what the caller must not say itself.
const std::array<std::string, 8> kLeftOut{"Content-Type",      "Content-Encoding",   "Content-Language",
                                          "Content-Location",  "Accept-Encoding",    "X-Forwarded-Method",
                                          "X-Forwarded-Uri",   "X-Principal"};

}  // namespace

Task<Principal> ask_principal(Station& station, std::shared_ptr<const Request> request) {
  const config::Config& config = request->snapshot->config();
  if (!config.auth_url) co_return AuthUnavailable{};
  http::RequestHead head = request->head;
  head.method = "GET";
  head.framing = http::BodyFraming::none;
  head.content_length = 0;
  const std::array<Header, 2> add{Header{"X-Forwarded-Method", request->head.method},
                                  Header{"X-Forwarded-Uri", request->head.target}};
  http::Forwarding forwarding;
  forwarding.target = config.auth_url->path.empty() ? std::string_view("/") : std::string_view(config.auth_url->path);
  const std::string host = host_of(*config.auth_url);
  forwarding.host = host;
  forwarding.drop = kLeftOut;
  forwarding.add = add;
  std::string text;
  http::append_request_head(text, head, forwarding);
  auto answer = co_await ask(station, request->snapshot, Subrequest{*config.auth_url, text});
  if (!answer) co_return AuthUnavailable{};
  if (answer->status >= 200 && answer->status <= 299) {
    const auto name = answer->fields.first("X-Principal");
    // Two names would be two callers.
    if (!name || name->empty() || answer->fields.count("X-Principal") != 1) co_return PrincipalName{};
    co_return PrincipalName{std::string(*name)};
  }
  Response instead;
  instead.status = answer->status;
  instead.fields = http::end_to_end(answer->fields);
  instead.body = std::move(answer->body);
  co_return instead;
}

Shown auth_unavailable() {
  Shown shown = problem(Problem::auth_unavailable, Outcome::unknown,
                        "Who may see this operation is asked of another service, and that does not answer.");
  shown.retry_after = std::chrono::seconds(1);
  return shown;
}

}  // namespace stet::gateway
