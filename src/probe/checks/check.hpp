#pragma once
// One check: a question put to the API, and why it matters.

#include <span>
#include <string_view>

#include "probe/subject.hpp"

namespace stet::probe {

struct Check {
  std::string_view name;
  std::string_view question;     // one line, for --help and reports
  std::string_view explanation;  // for --explain: why, how it happens in production, how it is fixed
  Finding (*run)(Subject&);
};

// In the order in which they run: the plain ones first, the one that kills the server last.
std::span<const Check* const> all_checks();
const Check* find_check(std::string_view name);  // null if there is none

namespace checks {
extern const Check repeat;
extern const Check fresh_connection;
extern const Check at_once;
extern const Check lost_answer;
extern const Check impatient;
extern const Check lost_request;
extern const Check other_payload;
extern const Check same_meaning;
extern const Check other_route;
extern const Check other_caller;
extern const Check failed_first;
extern const Check no_key;
extern const Check key_forms;
extern const Check new_intent;
extern const Check kill;
}  // namespace checks

}  // namespace stet::probe
