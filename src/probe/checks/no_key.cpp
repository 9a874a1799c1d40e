#include "probe/checks/check.hpp"

namespace stet::probe {
namespace {

Finding run(Subject& subject) {
  Finding finding;
  finding.did = "sent the request without a key";
  finding.expected = "a 4xx: without a key it cannot be protected";
  const auto mark = subject.mark();
  const Outcome outcome = subject.send(subject.without_key(subject.fresh()));
  const auto grown = subject.grown(mark, 0);
  const std::string seen = brief(outcome) + (grown ? "; " + effects_text(grown) : "");
  if (!outcome) return std::move(finding).failed(Harm::form, seen, "a request without a key gets no answer");
  if (is_success(outcome->status)) {
    return std::move(finding).warned(seen + ": a request without a key is accepted, and nothing protects it");
  }
  if (grown && *grown != 0) {
    return std::move(finding).failed(Harm::doubled, seen,
                                     "a request that was refused for want of a key took effect");
  }
  if (outcome->status >= 500) {
    return std::move(finding).failed(Harm::form, seen,
                                     "a request without a key ends in a server error, which clients retry");
  }
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::no_key = {
    "no-key", "Is a request without a key refused?",
    R"(Why: the client that forgot the key is the one whose retry acts twice, and nobody notices until it does.

In production: a new team integrates, its tests are green, and the first bad night doubles four hundred orders.

Fix: where a repetition costs money, the key is mandatory: answer 400 and say which header is missing. Where it has to
stay optional for old clients, count the unprotected requests and watch the number fall.)",
    &run};

}  // namespace stet::probe
