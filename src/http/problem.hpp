#pragma once
// A problem as an HTTP answer (RFC 9457). The table of statuses is docs/http.md's.

#include <string>
#include <string_view>

#include "stet/shown.hpp"

namespace stet::http {

int status_of(Problem);              // the table's; a route may say another for in-progress and key-reused
std::string_view title_of(Problem);  // a few words, the same for every occurrence
std::string type_of(Problem);        // "/.well-known/stet/problems/key-reused"

// application/problem+json of a Shown whose kind is `problem`.
std::string problem_json(const Shown&, int status);

// The whole answer: Content-Type, Cache-Control: no-store, Retry-After (whole seconds, rounded up),
// Stet-Operation and Stet-Outcome (not for bad-request, which is about no operation).
Answer problem_answer(const Shown&, int status);
inline Answer problem_answer(const Shown& shown) {
  return problem_answer(shown, status_of(shown.problem));
}

// Seconds for Retry-After: at least 1, rounded up.
std::int64_t retry_after_seconds(milliseconds);

// A JSON string with its quotes. What is not UTF-8 becomes U+FFFD; controls are escaped, and so are '<', '>'
// and '&', so that a page may embed it.
void append_json_string(std::string& out, std::string_view);

}  // namespace stet::http
