#include "http/problem.hpp"

#include <algorithm>

namespace stet::http {

namespace {

struct Row {
  Problem problem;
  int status;
  std::string_view title;
};

// In the order of the enumeration; a test holds it to docs/http.md.
constexpr Row kRows[] = {
    {Problem::key_missing, 400, "The idempotency key is missing"},
    {Problem::key_invalid, 400, "The idempotency key is not valid"},
    {Problem::scope_undefined, 400, "Whose key this is cannot be told"},
    {Problem::bad_request, 400, "The request is not well-formed HTTP"},
    {Problem::credentials_invalid, 401, "The credentials are not valid"},
    {Problem::in_progress, 409, "The first request with this key is still being processed"},
    {Problem::answer_not_kept, 409, "The request was carried out, and its answer was too large to keep"},
    {Problem::key_expired, 409, "The key was used, and its answer is no longer kept"},
    {Problem::body_too_large, 413, "The body is too large for a request with a key"},
    {Problem::key_reused, 422, "The key was used for a different request"},
    {Problem::store_corrupt, 500, "The stored record cannot be read"},
    {Problem::outcome_unknown, 502, "Whether the request was carried out is unknown"},
    {Problem::upstream_unreachable, 502, "The upstream could not be reached"},
    {Problem::store_unavailable, 503, "The store of keys is not available"},
    {Problem::auth_unavailable, 503, "The authentication service is not available"},
    {Problem::overloaded, 503, "There is too much to do at the moment"},
    {Problem::still_running, 504, "The request is still running"},
};

const Row& row_of(Problem problem) {
  static_assert(std::size(kRows) == static_cast<std::size_t>(Problem::still_running) + 1);
  return kRows[static_cast<std::size_t>(problem)];
}

void append_member(std::string& out, std::string_view name, std::string_view value) {
  out.append(",\"").append(name).append("\":");
  append_json_string(out, value);
}

void append_member(std::string& out, std::string_view name, std::int64_t value) {
  out.append(",\"").append(name).append("\":").append(std::to_string(value));
}

void append_flag(std::string& out, std::string_view name, bool value) {
  out.append(",\"").append(name).append(value ? "\":true" : "\":false");
}

}  // namespace

int status_of(Problem problem) {
  return row_of(problem).status;
}
std::string_view title_of(Problem problem) {
  return row_of(problem).title;
}
std::string type_of(Problem problem) {
  return std::string("/.well-known/stet/problems/").append(name(problem));
}

std::int64_t retry_after_seconds(milliseconds wait) {
  return std::max<std::int64_t>(1, (wait.count() + 999) / 1000);
}

std::string problem_json(const Shown& shown, int status) {
  std::string out = "{\"type\":";
  append_json_string(out, type_of(shown.problem));
  append_member(out, "title", title_of(shown.problem));
  append_member(out, "status", status);
  if (!shown.detail.empty()) append_member(out, "detail", shown.detail);
  if (shown.id) append_member(out, "instance", shown.id->text());
  append_flag(out, "retryable", shown.retryable);
  append_flag(out, "new_key_safe", shown.new_key_safe);
  if (shown.retry_after) append_member(out, "retry_after", retry_after_seconds(*shown.retry_after));
  if (shown.upstream_status) append_member(out, "upstream_status", *shown.upstream_status);
  if (shown.original_status) append_member(out, "original_status", *shown.original_status);
  if (shown.original_location) append_member(out, "original_location", *shown.original_location);
  out += '}';
  return out;
}

Answer problem_answer(const Shown& shown, int status) {
  Answer answer;
  answer.status = status;
  answer.headers.push_back({"Content-Type", "application/problem+json"});
  answer.headers.push_back({"Cache-Control", "no-store"});
  if (shown.retry_after)
    answer.headers.push_back({"Retry-After", std::to_string(retry_after_seconds(*shown.retry_after))});
  if (shown.id) answer.headers.push_back({"Stet-Operation", shown.id->text()});
  if (shown.problem != Problem::bad_request) {
    answer.headers.push_back({"Stet-Outcome", std::string(name(shown.outcome))});
  }
  answer.body = problem_json(shown, status);
  return answer;
}

}  // namespace stet::http
