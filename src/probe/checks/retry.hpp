#pragma once
// What all checks that lose something on the way have in common: the retry, and what must be true after it.

#include "probe/checks/check.hpp"

namespace stet::probe {

struct Retried {
  std::string seen;  // for the finding's "saw"
  Harm harm = Harm::none;
  std::string wrong;  // the failure as a sentence; empty: all was right
  std::optional<Response> answer;
};

// Retries until the answer is final, and once more. Right is: a success, equal to `first` where the client
// has it, the same once more, and one effect since `mark`. `what` names the fault in the sentence ("a request
// whose answer was lost").
Retried retry_and_judge(Subject&, const Request&, Subject::Mark mark, const std::optional<Response>& first,
                        const std::string& what);

// The sentence for an effect count that is not one; empty when it is one, or nothing counts.
std::string wrong_effects(const std::optional<std::int64_t>& grown, const std::string& what);
Harm harm_of(std::int64_t grown);

}  // namespace stet::probe
