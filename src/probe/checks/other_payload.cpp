#include "probe/checks/check.hpp"
#include "probe/json.hpp"

namespace stet::probe {
namespace {

// A body that means something else and that the API accepts under a fresh key: without that control, a 4xx
// would prove nothing about the key.
struct OtherBody {
  std::string body;
  Response own_answer;
};

std::optional<OtherBody> find_other_body(Subject& subject, const Request& request) {
  std::vector<std::string> candidates;
  if (subject.settings().other_body) {
    candidates.push_back(*subject.settings().other_body);
  } else if (is_json_text(request.body)) {
    candidates = altered_json(request.body);
  } else if (!request.body.empty()) {
    candidates = {request.body + "&stet_probe=1", request.body + "1"};
  }
  for (const std::string& body : candidates) {
    Request pattern = subject.settings().request;
    pattern.body = body;
    const Request control = subject.with_key(subject.minted(pattern), random_uuid());
    const Outcome outcome = subject.send(control);
    if (outcome && subject.meaning_of(*outcome) == Meaning::success) return OtherBody{control.body, *outcome};
  }
  return std::nullopt;
}

Finding run(Subject& subject) {
  Finding finding;
  finding.did = "sent another body under a key that had been used";
  finding.expected = "a 4xx that shows nothing of the first answer, no effect";
  const Request request = subject.fresh();
  const auto other = find_other_body(subject, request);
  if (!other)
    return std::move(finding).skipped(
        "no other body that the API accepts was found: give one with --other-body");
  subject.forget();
  const Subject::Settled first = subject.settle(request);
  if (first.meaning != Meaning::success) {
    return std::move(finding).failed(Harm::stuck, "first: " + brief(first.outcome),
                                     "a plain request did not succeed");
  }
  Request changed = request;
  changed.body = other->body;
  const auto mark = subject.mark();
  const Outcome second = subject.send(changed);
  const auto grown = subject.grown(mark, 0);
  const std::string seen = "other body: " + brief(second) + (grown ? "; " + effects_text(grown) : "");
  if (grown && *grown != 0) {
    return std::move(finding).failed(Harm::doubled, seen,
                                     "a second, different request under a used key took effect as well");
  }
  if (!second) {
    return std::move(finding).failed(Harm::stuck, seen, "another request under a used key gets no answer");
  }
  const std::string key = *find_header(request.headers, subject.settings().key_header);
  const bool leaked =
      leaks(*first.outcome, *second, {key, request.body, changed.body, other->own_answer.body});
  if (is_success(second->status)) {
    return std::move(finding).failed(
        leaked ? Harm::lost : Harm::answer, seen,
        leaked ? "a different request under a used key was told that it succeeded, with the "
                 "first one's answer, and never happened"
               : "a different request under a used key was accepted");
  }
  if (leaked) {
    return std::move(finding).failed(Harm::leaked, seen,
                                     "the refusal of a used key shows the first request's answer");
  }
  if (second->status < 400 || second->status >= 500) {
    return std::move(finding).failed(Harm::form, seen,
                                     "a used key is answered with " + std::to_string(second->status) +
                                         " instead of a 4xx: clients will send it again");
  }
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::other_payload = {
    "other-payload", "Is a used key with another body refused?",
    R"(Why: a client with a bug (a key made once per page instead of once per order) sends a different order under an old key.
Answered with the old order's 201, it believes in an order that does not exist. Refused, the bug is found on the first day.

In production: the mobile app keeps the key in a variable that outlives the purchase.

Fix: store a fingerprint (SHA-256 over method, path with query, and the body in a canonical form) with the key and compare.

  INSERT INTO idempotency (caller, key, fingerprint) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;
  -- 0 rows:
  SELECT fingerprint = $3 AS same, status, headers, body FROM idempotency WHERE caller = $1 AND key = $2;
  -- not same: 422, and nothing of the stored answer in it)",
    &run};

}  // namespace stet::probe
