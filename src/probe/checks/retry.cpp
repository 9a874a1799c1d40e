#include "probe/checks/retry.hpp"

namespace stet::probe {

Harm harm_of(std::int64_t grown) {
  return grown > 1 ? Harm::doubled : grown < 1 ? Harm::lost : Harm::none;
}

std::string wrong_effects(const std::optional<std::int64_t>& grown, const std::string& what) {
  if (!grown || *grown == 1) return "";
  if (*grown < 1) return what + " was answered as done and never took effect";
  return what + " took effect " + (*grown == 2 ? std::string("twice") : std::to_string(*grown) + " times");
}

namespace {

std::string why_not_final(const Subject::Settled& settled) {
  switch (settled.meaning) {
    case Meaning::success:
      return "";
    case Meaning::in_progress:
      return " is told 'still in progress' for ever";
    case Meaning::try_later:
      return settled.outcome ? " gets a passing error on every retry" : " gets no answer on retry";
    case Meaning::unknown:
      return " ends in 'outcome unknown' though the server never died";
    case Meaning::refused:
      return " is refused on retry";
    case Meaning::broken:
      return " ends in an error on retry";
  }
  return "";
}

}  // namespace

Retried retry_and_judge(Subject& subject, const Request& request, Subject::Mark mark,
                        const std::optional<Response>& first, const std::string& what) {
  const Subject::Settled settled = subject.settle(request);
  Retried result;
  result.seen = "retry: " + brief(settled.outcome);
  if (settled.attempts > 1) result.seen += " after " + std::to_string(settled.attempts) + " attempts";
  std::string trouble = why_not_final(settled);
  Harm harm = trouble.empty() ? Harm::none : Harm::stuck;
  if (trouble.empty()) {
    result.answer = *settled.outcome;
    const std::string changed =
        first ? subject.difference(*first, *settled.outcome)
              : lacking(subject.plain(), *settled.outcome, subject.settings().ignored_headers);
    const Outcome again = subject.send(request);
    const std::string changed_again =
        again ? subject.difference(*settled.outcome, *again) : again.error().detail;
    if (!changed.empty()) {
      trouble = " was answered otherwise on retry (" + changed + ")";
    } else if (!changed_again.empty()) {
      trouble = " was answered otherwise on a second retry (" + changed_again + ")";
    }
    if (!trouble.empty()) {
      harm = Harm::answer;
      result.seen += trouble;
    }
  }
  const auto grown = subject.grown(mark, 1);
  if (grown) result.seen += ", " + effects_text(grown);
  const bool ended = settled.meaning == Meaning::success;
  if (grown && (*grown > 1 || (ended && *grown < 1))) {
    result.harm = harm_of(*grown);
    result.wrong = wrong_effects(grown, what);
  } else if (!trouble.empty()) {
    result.harm = harm;
    result.wrong = what + trouble;
  }
  return result;
}

}  // namespace stet::probe
