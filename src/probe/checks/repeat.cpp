#include "probe/checks/retry.hpp"

namespace stet::probe {
namespace {

Finding run(Subject& subject) {
  Finding finding;
  finding.did = "sent the same request twice on one connection";
  finding.expected = "the second answer equals the first, one effect";
  const Request request = subject.fresh();
  const auto mark = subject.mark();
  Line line(subject.route());
  Outcome first = subject.send_on(line, request);
  std::string seen = "first: " + brief(first);
  if (!first || subject.meaning_of(*first) != Meaning::success) {
    // A client whose first attempt met a passing error retries, and so does the probe.
    const Retried retried =
        retry_and_judge(subject, request, mark, std::nullopt, "a request that first met an error");
    seen += "; " + retried.seen;
    if (!retried.wrong.empty()) return std::move(finding).failed(retried.harm, seen, retried.wrong);
    first = *retried.answer;
  }
  const Outcome second = subject.send_on(line, request);
  seen += "; second: " + brief(second);
  const auto grown = subject.grown(mark, 1);
  if (grown) seen += "; " + effects_text(grown);
  if (const std::string wrong = wrong_effects(grown, "a request that was sent twice"); !wrong.empty()) {
    return std::move(finding).failed(harm_of(*grown), seen, wrong);
  }
  const std::string changed = second ? subject.difference(*first, *second) : second.error().detail;
  if (!changed.empty()) {
    return std::move(finding).failed(Harm::answer, seen,
                                     "the second answer is not the first (" + changed + ")");
  }
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::repeat = {
    "repeat", "Does the same request, sent twice, act once and answer alike?",
    R"(Why: a retry is what every client, proxy, queue and impatient person does after a time-out. If the second copy acts
again, somebody pays twice; if it is answered otherwise, the client that lost the first answer never learns the id of
what it made.

In production: a phone changes networks after the request has left; its HTTP library sends it again.

Fix: keep the answer with the key, in the transaction of the effect, and give it back whole: status, headers such as
Location, and every byte of the body.

  CREATE TABLE idempotency (
    caller text, key text, fingerprint bytea NOT NULL,
    status int, headers jsonb, body bytea,            -- bytea: bytes, not text, or binary bodies are mangled
    PRIMARY KEY (caller, key));

  BEGIN;
  INSERT INTO idempotency (caller, key, fingerprint) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;
  -- 1 row: the request is yours: act, then
  UPDATE idempotency SET status = 201, headers = $4, body = $5 WHERE caller = $1 AND key = $2;
  COMMIT;
  -- 0 rows: SELECT status, headers, body and send exactly that.)",
    &run};

}  // namespace stet::probe
