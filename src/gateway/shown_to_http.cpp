#include "gateway/shown_to_http.hpp"

#include "gateway/answer_headers.hpp"
#include "http/date.hpp"
#include "http/problem.hpp"

namespace stet::gateway {
namespace {

int status_of(const Shown& shown, const config::Route& route) {
  switch (shown.problem) {
    case Problem::in_progress: return route.status_in_progress;
    case Problem::key_reused: return route.status_key_reused;
    default: return http::status_of(shown.problem);
  }
}

void add_retry_after(Headers& lines, const Shown& shown) {
  if (shown.retry_after) {
    lines.push_back({"Retry-After", std::to_string(http::retry_after_seconds(*shown.retry_after))});
  }
}

Response accepted(const Shown& shown) {
  Response response;
  response.status = 202;
  const std::string location = shown.id ? status_location(*shown.id) : std::string();
  response.fields = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}};
  response.body = "{\"state\":\"in-progress\",\"operation\":\"" + (shown.id ? shown.id->text() : "") +
                  "\",\"location\":\"" + location + "\"}\n";
  response.more.push_back({"Location", location});
  add_retry_after(response.more, shown);
  return response;
}

}  // namespace

std::string status_location(const OperationId& id) { return "/.well-known/stet/operations/" + id.text(); }

Response shown_to_http(Shown shown, const config::Route& route, const Headers* own_lines) {
  Response response;
  if (shown.kind == ShownKind::problem) {
    Answer answer = http::problem_answer(shown, status_of(shown, route));
    response.status = answer.status;
    response.fields = std::move(answer.headers);
    response.body = std::move(answer.body);
  } else {
    if (shown.kind == ShownKind::accepted) {
      response = accepted(shown);
    } else {
      response.status = shown.answer.status;
      response.body = std::move(shown.answer.body);
      const bool replay = shown.kind == ShownKind::replay;
      if (replay) {
        response.fields = all_stored(shown.answer.headers, route) ? std::move(shown.answer.headers)
                                                                  : replayed_headers(shown.answer.headers, route);
        // The first caller may get a stored answer, too: its upstream has recorded it (docs/joint_transaction.md).
        if (shown.outcome == Outcome::replayed) response.more.push_back({"Idempotent-Replayed", "true"});
      } else {
        response.fields = own_lines != nullptr ? *own_lines : std::move(shown.answer.headers);
      }
    }
    response.more.push_back({"Stet-Outcome", std::string(name(shown.outcome))});
    if (shown.id) response.more.push_back({"Stet-Operation", shown.id->text()});
  }
  if (shown.replayable_until) {
    response.more.push_back({"Stet-Replayable-Until", http::http_date(*shown.replayable_until)});
  }
  return response;
}

}  // namespace stet::gateway
