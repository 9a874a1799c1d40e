#include "gateway/keyed.hpp"

#include "gateway/auth.hpp"
#include "gateway/cors.hpp"
#include "gateway/operation.hpp"
#include "gateway/passthrough.hpp"
#include "gateway/relay.hpp"
#include "gateway/request_body.hpp"
#include "gateway/shown_to_http.hpp"
#include "http/head_parser.hpp"

namespace stet::gateway {
namespace {

Shown refusal(const identify::Refusal& refused) {
  return problem(refused.problem, Outcome::not_executed, refused.detail);
}

Shown over_budget(Outcome outcome, std::string_view then) {
  Shown shown = problem(Problem::overloaded, outcome,
                        "The gateway holds as many bytes of bodies as it may. " + std::string(then));
  shown.retry_after = std::chrono::seconds(1);
  return shown;
}

Shown refusal(BodyTrouble trouble) {
  switch (trouble) {
    case BodyTrouble::too_large:
      return problem(Problem::body_too_large, Outcome::not_executed,
                     "The body is larger than this route takes (max_request_body). Nothing was run.");
    case BodyTrouble::over_budget:
      return over_budget(Outcome::not_executed, "Nothing was run.");
    case BodyTrouble::malformed:
    case BodyTrouble::gone:
      break;
  }
  return problem(Problem::bad_request, Outcome::not_executed, "The framing of the body is broken.");
}

// What the head alone says against a request.
std::optional<Shown> refusal(const http::RequestHead& head, const config::Route& route) {
  if (const auto end_to_end = http::check_key_is_end_to_end(head, route.key_headers); !end_to_end) {
    return problem(Problem::bad_request, Outcome::not_executed, std::string(end_to_end.error().detail));
  }
  if (!head.upgrade.empty()) {
    return problem(Problem::bad_request, Outcome::not_executed,
                   "A request with a key cannot ask for another protocol (Upgrade).");
  }
  return std::nullopt;
}

WallTime wall_now() {
  return std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
}

// Shows what the operation came to; the rest of an answer too large to keep goes on from the upstream.
Task<After> show(Session& session, Request& request, Operation& operation, Shown shown) {
  const RouteInUse& route = *request.route;
  if (shown.kind == ShownKind::replay &&
      operation.share().add_replay(shown.answer.body.size()) == BodyBudget::Share::Granted::no) {
    const auto id = shown.id;
    shown = over_budget(Outcome::completed, "The answer is kept: send the same request again to get it.");
    shown.id = id;
  }
  UpstreamAttempt* attempt = operation.attempt();
  request.outcome = shown.outcome;
  request.operation = shown.id;
  request.attempt = operation.facts().attempt;
  request.store_time = operation.facts().in_store;
  request.why = operation.facts().why;
  if (attempt != nullptr && attempt->status() != 0) request.upstream_status = attempt->status();
  if (attempt != nullptr) request.upstream_time = attempt->duration();
  route.metrics.answered(shown.outcome);
  if (shown.kind == ShownKind::problem) {
    request.problem = shown.problem;
    route.metrics.refused(shown.problem);
  }
  const bool own = attempt != nullptr && (shown.kind == ShownKind::answer || shown.kind == ShownKind::stream);
  const bool stream = shown.kind == ShownKind::stream;
  Response response =
      shown_to_http(std::move(shown), route.route, own ? attempt->own_caller_headers() : nullptr);
  add_cors(response, request.snapshot->config(), request.head);
  After after = After::close;
  auto rest = stream ? attempt->take_rest() : std::nullopt;
  if (rest) {
    after = co_await relay_rest(session, request, std::move(response), std::move(*rest));
  } else {
    after = co_await session.respond(request, std::move(response));
  }
  route.metrics.request_duration.observe(std::chrono::steady_clock::now() - request.began);
  co_return after;
}

Task<After> run(Session& session, std::shared_ptr<Request> request, KeyedRequest keyed) {
  const auto operation = std::make_shared<Operation>(session.station(), std::move(keyed));
  operation->start();
  if (!operation->has_reply()) {
    session.watch_caller([waiting = operation.get()] { waiting->caller_left(); });
    co_await operation->replied();
    session.watch_caller(nullptr);
  }
  Operation::Reply reply = operation->take_reply();
  if (std::holds_alternative<Operation::Unprotected>(reply)) {
    request->outcome = Outcome::unprotected;
    request->route->metrics.answered(Outcome::unprotected);
    request->route->metrics.unprotected_writes.add();
    PassThrough unprotected{operation->take_body(),
                            {{"Stet-Outcome", std::string(name(Outcome::unprotected))}}};
    co_return co_await pass_through(session, *request, std::move(unprotected));
  }
  co_return co_await show(session, *request, *operation, std::move(std::get<Shown>(reply)));
}

}  // namespace

Task<After> serve_keyed(Session& session, std::shared_ptr<Request> received) {
  Request& request = *received;
  const config::Config& config = request.snapshot->config();
  const config::Route& route = request.route->route;
  const bool key_in_body = route.key_from.kind == config::KeySource::Kind::json;

  auto found = identify::find_key(route, request.head, {});
  if (!key_in_body && std::holds_alternative<identify::NoKey>(found)) {
    request.route->metrics.unprotected_writes.add();
    co_return co_await pass_through(session, request, {});
  }
  // What can be refused by the head alone spares a careful caller its body; others are read first, so that
  // their connection stays.
  std::optional<Shown> refused = refusal(request.head, route);
  if (const auto* no = std::get_if<identify::Refusal>(&found); no != nullptr && !key_in_body && !refused) {
    refused = refusal(*no);
  }
  if (refused && request.owes_continue) co_return co_await session.respond_problem(request, *refused);

  BodyBudget::Share share(session.station().shared.bodies);
  // A byte for the request itself: one without a body is refused like the others, as its replay may be large.
  const bool room = share.grow_to(1) == BodyBudget::Share::Granted::yes;
  auto body = room ? co_await read_whole_body(session, request, share)
                   : Expected<std::string, BodyTrouble>(unexpected(BodyTrouble::over_budget));
  if (!body) {
    if (body.error() == BodyTrouble::gone) co_return After::close;
    co_return co_await session.respond_problem(request, refusal(body.error()));
  }
  if (refused) co_return co_await session.respond_problem(request, *refused);

  if (key_in_body) found = identify::find_key(route, request.head, *body);
  if (const auto* no = std::get_if<identify::Refusal>(&found)) {
    co_return co_await session.respond_problem(request, refusal(*no));
  }
  auto* key = std::get_if<identify::Key>(&found);
  if (key == nullptr) {
    co_return co_await pass_through(session, request, PassThrough{std::move(*body), {}});
  }
  request.key = key->value;

  std::optional<std::string> principal;
  if (identify::needs_principal(route)) {
    Principal asked = co_await ask_principal(session.station(), received);
    if (auto* instead = std::get_if<Response>(&asked))
      co_return co_await session.respond(request, std::move(*instead));
    if (std::holds_alternative<AuthUnavailable>(asked)) {
      co_return co_await session.respond_problem(request, auth_unavailable());
    }
    principal = std::move(std::get<PrincipalName>(asked).name);
  }
  const auto scope = identify::find_scope(config, route, request.head, wall_now(), principal);
  if (!scope) co_return co_await session.respond_problem(request, refusal(scope.error()));
  if (scope->shared) {
    session.station().shared.log.once(
        admin::Level::warning, "shared-scope",
        "a keyed request came without credentials of any kind: all such requests share "
        "one scope");
  }
  request.scope = scope->value;
  Fingerprint fingerprint = identify::make_fingerprint(
      route.fingerprint, {request.head.method, request.head.target, request.head.fields, *body});
  KeyedRequest keyed{received, std::move(*body),       session.client_address(), std::move(*key),
                     *scope,   std::move(fingerprint), std::move(share)};
  co_return co_await run(session, std::move(received), std::move(keyed));
}

}  // namespace stet::gateway
