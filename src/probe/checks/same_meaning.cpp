#include "probe/checks/retry.hpp"
#include "probe/json.hpp"

namespace stet::probe {
namespace {

Finding run(Subject& subject) {
  Finding finding;
  finding.did = "sent the same JSON again with its members in another order and other whitespace";
  finding.expected = "the first answer again, one effect";
  const Request request = subject.fresh();
  const auto spelled = is_json(request) ? respell(request.body) : std::nullopt;
  if (!spelled) return std::move(finding).skipped("the body is not JSON");
  const auto mark = subject.mark();
  const Subject::Settled first = subject.settle(request);
  if (first.meaning != Meaning::success) {
    return std::move(finding).failed(Harm::stuck, "first: " + brief(first.outcome),
                                     "a plain request did not succeed");
  }
  Request again = request;
  again.body = *spelled;
  const Outcome second = subject.send(again);
  const auto grown = subject.grown(mark, 1);
  const std::string seen = "respelt: " + brief(second) + (grown ? "; " + effects_text(grown) : "");
  if (const std::string wrong = wrong_effects(grown, "a retry whose JSON was spelt otherwise");
      !wrong.empty()) {
    return std::move(finding).failed(harm_of(*grown), seen, wrong);
  }
  const std::string changed = second ? subject.difference(*first.outcome, *second) : second.error().detail;
  if (!changed.empty()) {
    return std::move(finding).failed(
        Harm::answer, seen + "; " + changed,
        "a retry whose JSON was spelt otherwise is not recognised (" + changed + ")");
  }
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::same_meaning = {
    "same-meaning", "Is the same JSON, spelt otherwise, the same request?",
    R"(Why: a retry is often built again from an object, not from saved bytes, and the order of members in a map is nobody's
promise (it changes from run to run in Go and Python's sets, and after an update of a library).

In production: the retry after a restart of the client is refused with 422 "other payload", and the client, told that its
key is used up, makes a new one: now it acts twice.

Fix: take the fingerprint of a canonical form: members sorted, whitespace dropped, numbers compared by value and never
through a double (9007199254740992 and 9007199254740993 are two amounts).)",
    &run};

}  // namespace stet::probe
