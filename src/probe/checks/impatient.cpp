#include "probe/checks/retry.hpp"

namespace stet::probe {
namespace {

// The hang-ups come after so many fifths of the usual answering time: at the very beginning the retry could
// overtake the first attempt, and at the end there is nothing left to wait for.
constexpr int kFifths = 5;

Finding run(Subject& subject) {
  Finding finding;
  finding.did = "hung up while the server was at work, at four moments, and sent the request again at once";
  finding.expected = "the retry gets the first attempt's answer, one effect each";
  std::string seen;
  for (int fifth = 1; fifth < kFifths; ++fifth) {
    subject.forget();
    const Request request = subject.fresh();
    const auto mark = subject.mark();
    subject.send_cut(request, Cut{Cut::Place::hang_up, 0, subject.usual_time() * fifth / kFifths});
    const Retried retried = retry_and_judge(subject, request, mark, std::nullopt,
                                            "a request whose client hung up and tried again");
    seen = retried.seen;
    if (!retried.wrong.empty()) return std::move(finding).failed(retried.harm, seen, retried.wrong);
  }
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::impatient = {
    "impatient",
    "If the client hangs up while the server works, does the retry get the first attempt's answer?",
    R"(Why: the client's patience ends before the server's work does. The first attempt goes on, and the retry meets it.

In production: the web framework cancels the handler when the client goes away (Go's request context, ASP.NET's
RequestAborted, a dropped future in Rust). The provider has been charged, but the code that would have noted the answer
was cancelled with the request; or a clean-up handler sets the key free, and the retry charges again.

Fix: from the claim to the stored answer the work belongs to nobody who can hang up. Run it detached from the request's
cancellation, and on the way out release a key only if it is certain that nothing happened.

  UPDATE idempotency SET status = …, body = … WHERE caller = $1 AND key = $2;   -- also when nobody listens any more)",
    &run};

}  // namespace stet::probe
