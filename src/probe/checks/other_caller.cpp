#include "probe/checks/check.hpp"

namespace stet::probe {
namespace {

Finding run(Subject& subject) {
  Finding finding;
  finding.did = "sent the same request under the same key with another caller's credentials";
  finding.expected = "an operation of its own, nothing of the first caller's answer";
  if (subject.settings().other_auth.empty()) {
    return std::move(finding).skipped("no other caller was given (--other-auth 'Authorization: Bearer …')");
  }
  const auto as_other = [&](Request request) {
    for (const Header& header : subject.settings().other_auth)
      set_header(request.headers, header.name, header.value);
    return request;
  };
  const Outcome own = subject.send(as_other(subject.fresh()));
  if (!own || subject.meaning_of(*own) != Meaning::success) {
    return std::move(finding).skipped("the other caller's own plain request fails: " + brief(own));
  }
  const Request request = subject.fresh();
  const Subject::Settled first = subject.settle(request);
  if (first.meaning != Meaning::success) {
    return std::move(finding).failed(Harm::stuck, "first: " + brief(first.outcome),
                                     "a plain request did not succeed");
  }
  const auto mark = subject.mark();
  const Outcome second = subject.send(as_other(request));
  const auto grown = subject.grown(mark, 1);
  const std::string seen = "other caller: " + brief(second) + (grown ? "; " + effects_text(grown) : "");
  if (!second) {
    return std::move(finding).failed(Harm::stuck, seen, "one caller's key leaves another without an answer");
  }
  const std::string key = *find_header(request.headers, subject.settings().key_header);
  const bool same_answer =
      subject.answers_tell_apart() && subject.difference(*first.outcome, *second).empty();
  if (same_answer || is_replay_marked(*second) ||
      leaks(*first.outcome, *second, {key, request.body, own->body})) {
    return std::move(finding).failed(Harm::leaked, seen, "one caller is shown another caller's answer");
  }
  if (subject.meaning_of(*second) != Meaning::success) {
    return std::move(finding).failed(Harm::lost, seen, "one caller can block another by using the key first");
  }
  if (grown && *grown != 1) {
    return std::move(finding).failed(
        *grown < 1 ? Harm::lost : Harm::doubled, seen,
        "another caller's request under the same key was answered and did not happen once");
  }
  if (!grown && !subject.answers_tell_apart()) {
    return std::move(finding).warned(
        seen + ": all operations answer alike and nothing counts effects, so this says little");
  }
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::other_caller = {
    "other-caller", "Are the keys of two callers kept apart?",
    R"(Why: keys are chosen by clients. If they are global, a guessed or copied key reads another customer's answer (names,
addresses, card digits), and whoever uses a key first blocks everybody else.

In production: keys such as "order-1001" are not random; two customers of one API meet, or one of them is looking.

Fix: who is asking belongs into the primary key, from the verified credentials and never from the request's own word.

  CREATE TABLE idempotency (caller text, key text, …, PRIMARY KEY (caller, key));)",
    &run};

}  // namespace stet::probe
