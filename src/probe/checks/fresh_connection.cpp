#include "probe/checks/retry.hpp"

namespace stet::probe {
namespace {

Finding run(Subject& subject) {
  Finding finding;
  finding.did = "sent a request, closed the connection, sent it again on another";
  finding.expected = "the same answer, one effect";
  const Request request = subject.fresh();
  const auto mark = subject.mark();
  const Outcome first = subject.send(request);
  const bool answered = first && subject.meaning_of(*first) == Meaning::success;
  const Retried retried =
      retry_and_judge(subject, request, mark, answered ? std::optional(*first) : std::nullopt,
                      "a request that was retried on a new connection");
  const std::string seen = "first: " + brief(first) + "; " + retried.seen;
  if (!retried.wrong.empty()) return std::move(finding).failed(retried.harm, seen, retried.wrong);
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::fresh_connection = {
    "fresh-connection", "Is the retry on another connection the same operation?",
    R"(Why: the usual reason for a retry is that the connection broke, so the retry comes on another one, often through
another proxy and to another process.

In production: keys are kept in the memory of one of four workers, or per connection or session; the retry lands on
another worker and acts again. It never shows on a developer's machine, where there is one process.

Fix: keep keys where every process of the API sees them: in the database of the effect itself.

  CREATE TABLE idempotency (caller text, key text, …, PRIMARY KEY (caller, key));)",
    &run};

}  // namespace stet::probe
