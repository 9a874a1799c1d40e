#include <array>

#include "probe/checks/retry.hpp"

namespace stet::probe {
namespace {

Finding run(Subject& subject) {
  Finding finding;
  finding.did =
      "cut the connection on the way back: the whole answer dropped, then half of one, and sent again";
  finding.expected = "the retry gets an answer, one effect each";
  std::string seen;
  const std::size_t half =
      subject.plain().body.size() / 2 + 40;  // within the body, or the head of a bodiless answer
  const std::array cuts = {Cut{Cut::Place::answer_dropped, 0, {}}, Cut{Cut::Place::inside_answer, half, {}}};
  for (const Cut& cut : cuts) {
    subject.forget();
    const Request request = subject.fresh();
    const auto mark = subject.mark();
    const CutExchange lost = subject.send_cut(request, cut);
    if (lost.seen.answer_bytes == 0) {
      return std::move(finding).failed(Harm::stuck, "the API gave no answer: " + lost.seen.trouble,
                                       "the API gave no answer to a plain request");
    }
    const Retried retried =
        retry_and_judge(subject, request, mark, std::nullopt, "a request whose answer was lost");
    seen += (seen.empty() ? "" : "; ") + retried.seen;
    if (!retried.wrong.empty()) return std::move(finding).failed(retried.harm, seen, retried.wrong);
  }
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::lost_answer = {
    "lost-answer", "If the answer is lost on the way back, does the retry get it?",
    R"(Why: this is the case that idempotency keys exist for. The server has done the work, the client does not know it.

In production: a proxy restarts, a phone enters a lift, a client's time-out fires a millisecond before the answer.

Fix: the answer must be stored before the first byte of it is sent, in the transaction of the effect. An API that stores
it after sending (in an after-response hook, say) loses it exactly when it is needed.

  BEGIN;
  INSERT INTO idempotency …;  INSERT INTO charges …;
  UPDATE idempotency SET status = …, body = … WHERE caller = $1 AND key = $2;
  COMMIT;          -- only then write to the socket)",
    &run};

}  // namespace stet::probe
