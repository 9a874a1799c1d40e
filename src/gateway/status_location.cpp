#include "gateway/status_location.hpp"

#include "gateway/auth.hpp"
#include "gateway/shown_to_http.hpp"
#include "gateway/store_call.hpp"
#include "http/problem.hpp"
#include "identify/identify.hpp"

namespace stet::gateway {
namespace {

Response as_problem(const Shown& shown, int status) {
  Answer answer = http::problem_answer(shown, status);
  return {answer.status, std::move(answer.headers), {}, std::move(answer.body)};
}

Response unavailable() {
  Shown shown = problem(Problem::store_unavailable, Outcome::unknown, "The store of keys does not answer now.");
  shown.retry_after = std::chrono::seconds(1);
  return as_problem(shown, http::status_of(shown.problem));
}

}  // namespace

Response not_found() {
  return {404,
          {{"Content-Type", "application/problem+json"}, {"Cache-Control", "no-store"}},
          {},
          "{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404}\n"};
}

Task<Response> status_of_operation(Station& station, std::shared_ptr<const Request> request, std::string_view text) {
  const auto id = OperationId::parse(text);
  if (!id) co_return not_found();
  const auto found = co_await find(station, *id);
  if (!found) {
    if (found.error().kind != StoreFailure::corrupt) co_return unavailable();
    co_return as_problem(problem(Problem::store_corrupt, Outcome::unknown, "The stored record cannot be read."), 500);
  }
  if (!*found) co_return not_found();
  const Record& record = **found;

  std::optional<std::string> principal;
  if (identify::rule_needs_principal(record.terms.scope_rule)) {
    Principal asked = co_await ask_principal(station, request);
    if (auto* instead = std::get_if<Response>(&asked)) co_return std::move(*instead);
    if (std::holds_alternative<AuthUnavailable>(asked)) {
      const Shown shown = auth_unavailable();
      co_return as_problem(shown, http::status_of(shown.problem));
    }
    principal = std::move(std::get<PrincipalName>(asked).name);
  }
  const config::Config& config = request->snapshot->config();
  const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
  const auto scope = identify::find_scope_by_rule(config, record.terms.scope_rule, request->head, now, principal);
  // A caller who is in another scope learns as much as of an operation that never was.
  if (!scope || scope->value != record.token.scope) co_return not_found();

  Shown shown = present(record);
  if (shown.kind == ShownKind::problem && shown.problem == Problem::key_expired) co_return as_problem(shown, 410);
  if (shown.kind == ShownKind::accepted) shown.retry_after = std::chrono::seconds(1);
  const RouteInUse& route = request->snapshot->find(record.method, record.path);
  co_return shown_to_http(std::move(shown), route.route, nullptr);
}

}  // namespace stet::gateway
