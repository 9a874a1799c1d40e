#include "stet/http/idempotent.hpp"

#include <algorithm>

#include "http/date.hpp"
#include "http/kept_headers.hpp"
#include "http/message.hpp"
#include "http/problem.hpp"
#include "http/serialize.hpp"
#include "identify/identify.hpp"

namespace stet::http {
namespace {

// What PostgreSQL's index takes beside the longest key. Beyond it every attempt would be told to come again.
constexpr std::size_t kLongestScope = 1'000;

config::Route route_of(const Options& options) {
  config::Route route;
  route.key = options.key == Key::required ? config::KeyMode::required : config::KeyMode::optional;
  route.key_headers = {options.key_header};
  return route;
}

config::FingerprintSettings fingerprint_of(const Options& options) {
  return {options.fingerprint_ignore, options.fingerprint_only, options.fingerprint_headers, {}};
}

Response response_of(Answer answer) {
  return {answer.status, std::move(answer.headers), std::move(answer.body)};
}

Response refusal(Problem problem, std::string detail) {
  return response_of(problem_answer(stet::problem(problem, Outcome::not_executed, std::move(detail))));
}

void add_own_lines(Headers& lines, const Shown& shown) {
  if (shown.kind == ShownKind::replay) lines.push_back({"Idempotent-Replayed", "true"});
  lines.push_back({"Stet-Outcome", std::string(name(shown.outcome))});
  if (shown.id) lines.push_back({"Stet-Operation", shown.id->text()});
  if (shown.replayable_until) lines.push_back({"Stet-Replayable-Until", http_date(*shown.replayable_until)});
}

}  // namespace

Scope scope_of_header(std::string name) {
  return [name = std::move(name)](const Request& request) -> std::optional<std::string> {
    const auto value = header(request, name);
    if (!value || value->empty()) return std::nullopt;
    return std::string(*value);
  };
}

Scope one_scope() {
  return [](const Request&) -> std::optional<std::string> { return "everybody"; };
}

Expected<std::optional<Intent>, Response> identify(const Options& options, const Request& request) {
  RequestHead head;
  head.method = request.method;
  head.target = request.target;
  head.fields = Fields(request.headers);
  const auto found = identify::find_key(route_of(options), head, request.body);
  if (const auto* refused = std::get_if<identify::Refusal>(&found)) {
    return unexpected(refusal(refused->problem, refused->detail));
  }
  const auto* key = std::get_if<identify::Key>(&found);
  if (key == nullptr) return std::optional<Intent>();
  auto scope = options.scope ? options.scope(request) : std::nullopt;
  if (!scope || scope->empty() || scope->size() > kLongestScope) {
    return unexpected(refusal(Problem::scope_undefined,
                              "Whose key this is cannot be told: the request does not say who is calling."));
  }
  const identify::Subject subject{head.method, head.target, head.fields, request.body};
  return std::optional(Intent{*std::move(scope), key->value,
                              identify::make_fingerprint(fingerprint_of(options), subject), head.method,
                              std::string(head.path())});
}

std::optional<Fingerprint> refingerprint(const Options& options, const Request& request,
                                         const Recipe& recipe) {
  const Fields fields(request.headers);
  return identify::remake_fingerprint(fingerprint_of(options), recipe,
                                      {request.method, request.target, fields, request.body});
}

Answer kept(const Response& response) {
  Answer answer{response.status, end_to_end(Fields(response.headers)), response.body, Kept::whole};
  std::erase_if(answer.headers, [](const Header& line) { return is_of_one_moment(line.name); });
  return answer;
}

Response answer(const RunResult& result) {
  const Shown& shown = result.shown;
  if (shown.kind == ShownKind::problem) {
    Response response = response_of(problem_answer(shown));
    if (shown.replayable_until) {
      response.headers.push_back({"Stet-Replayable-Until", http_date(*shown.replayable_until)});
    }
    return response;
  }
  Response response = response_of(shown.answer);
  if (response.status == 0) response.status = 500;  // declined without a word
  add_own_lines(response.headers, shown);
  return response;
}

Response store_failed(const StoreError& error) {
  if (error.kind() == StoreFailure::corrupt) {
    return response_of(problem_answer(stet::problem(Problem::store_corrupt, Outcome::unknown,
                                                    "The stored record of this key cannot be read.")));
  }
  Shown shown =
      stet::problem(Problem::store_unavailable, Outcome::unknown,
                    "The database did not take this request now. Send the same request with the same key "
                    "again.");
  shown.retry_after = std::chrono::seconds(1);
  return response_of(problem_answer(shown));
}

Handled handle(const Options& options, const Request& request, Session& session,
               const std::function<Response()>& handler) {
  const auto intent = identify(options, request);
  if (!intent) return {intent.error(), Then::roll_back};
  if (!*intent) {
    Response unprotected = handler();
    const bool did_nothing = options.run.statuses.meaning(unprotected.status) == StatusMeaning::release;
    return {std::move(unprotected), did_nothing ? Then::roll_back : Then::commit};
  }

  RunOptions run = options.run;
  if (!run.refingerprint) {
    run.refingerprint = [&](const Recipe& recipe) { return refingerprint(options, request, recipe); };
  }
  std::optional<Response> own;  // more than what is kept: Set-Cookie is for this caller
  const RunResult result = run_once(session, **intent, run, [&](const Token&) {
    own = handler();
    return kept(*own);
  });
  // An answer that could not be recorded is rolled back, and must not be shown.
  const bool holds = result.ending == Ending::ran || result.ending == Ending::declined;
  if (!own || !holds) return {answer(result), result.then()};
  add_own_lines(own->headers, result.shown);
  return {*std::move(own), result.then()};
}

}  // namespace stet::http
