#include "gateway/own_pages.hpp"

#include "admin/contract.hpp"
#include "gateway/cors.hpp"
#include "gateway/status_location.hpp"
#include "http/problem_pages.hpp"

namespace stet::gateway {
namespace {

constexpr std::string_view kRoot = "/.well-known/stet/";

Response page(std::string html) {
  return {200,
          {{"Content-Type", "text/html; charset=utf-8"},
           {"Cache-Control", "public, max-age=300"},
           {"X-Content-Type-Options", "nosniff"},
           {"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"}},
          {},
          std::move(html)};
}

Response problem_named(std::string_view name) {
  if (name.empty()) return page(http::problem_index_page());
  if (const auto known = http::problem_named(name)) return page(http::problem_page(*known));
  return not_found();
}

Task<Response> own_page(Session& session, std::shared_ptr<const Request> request) {
  const http::RequestHead& head = request->head;
  if (head.method != "GET" && head.method != "HEAD") {
    Response wrong = not_found();
    wrong.status = 405;
    wrong.body = "{\"type\":\"about:blank\",\"title\":\"Method Not Allowed\",\"status\":405}\n";
    wrong.more = {{"Allow", "GET, HEAD"}};
    co_return wrong;
  }
  const std::string_view rest = head.path().substr(kRoot.size());
  if (rest == "contract") {
    Answer answer = admin::contract_answer(request->snapshot->config(), head.fields.first("Accept").value_or(""));
    co_return Response{answer.status, std::move(answer.headers), {}, std::move(answer.body)};
  }
  if (rest == "problems") co_return problem_named({});
  if (rest.starts_with("problems/")) co_return problem_named(rest.substr(9));
  if (rest.starts_with("operations/")) {
    co_return co_await status_of_operation(session.station(), std::move(request), rest.substr(11));
  }
  co_return not_found();
}

}  // namespace

bool is_own_page(const http::RequestHead& head) { return head.target.starts_with(kRoot); }

Task<After> serve_own_page(Session& session, std::shared_ptr<Request> request) {
  Response response = co_await own_page(session, request);
  add_cors(response, request->snapshot->config(), request->head);
  co_return co_await session.respond(*request, std::move(response));
}

}  // namespace stet::gateway
