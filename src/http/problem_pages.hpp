#pragma once
// The page behind each problem's `type`: what happened, whether it is safe to send again, what to do.

#include <optional>
#include <string>
#include <string_view>

#include "stet/shown.hpp"

namespace stet::http {

struct ProblemText {
  std::string_view happened;
  std::string_view safe_to_retry;
  std::string_view what_to_do;
};
const ProblemText& problem_text(Problem);

std::optional<Problem> problem_named(std::string_view name);  // "key-reused"
std::string problem_page(Problem);                            // text/html; charset=utf-8
std::string problem_index_page();                             // links to all of them

}  // namespace stet::http
