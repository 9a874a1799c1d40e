#include "probe/checks/retry.hpp"
#include "probe/interruption.hpp"

namespace stet::probe {
namespace {

constexpr std::chrono::milliseconds kLongestWait{10'000};  // for an API that is slow anyway
constexpr int kQuarters = 4;  // of the usual answering time: the moments of the hang-up

Request hang_up(Subject& subject, int quarter) {
  subject.forget();
  Request request = subject.fresh();
  subject.send_cut(request, Cut{Cut::Place::hang_up, 0, subject.usual_time() * quarter / kQuarters});
  return request;
}

Finding run(Subject& subject) {
  Finding finding;
  finding.did =
      "hung up while the server was at work, at four moments; sent the request again afterwards, or at once";
  finding.expected = "the retry gets the first attempt's answer, one effect each";
  std::string seen;
  // The retry after the server's work: what did it keep of an attempt whose client was gone?
  for (int quarter = 0; quarter < kQuarters; ++quarter) {
    const auto mark = subject.mark();
    const Request request = hang_up(subject, quarter);
    pause(std::min(subject.usual_time() * 2, kLongestWait));
    subject.grown(mark, 1);  // a server that is slow just now: until it has acted
    const Retried retried = retry_and_judge(subject, request, mark, std::nullopt,
                                            "a request whose client hung up and tried again");
    seen = retried.seen;
    if (!retried.wrong.empty()) return std::move(finding).failed(retried.harm, seen, retried.wrong);
  }
  // The retry at once: it may overtake the first attempt and be the one that acts, so its answer says little.
  // The effects say all.
  for (int quarter = 0; quarter < kQuarters; ++quarter) {
    const auto mark = subject.mark();
    const Request request = hang_up(subject, quarter);
    const Subject::Settled settled = subject.settle(request);
    const auto grown = subject.grown(mark, 1);
    const std::string wrong = wrong_effects(grown, "a request whose client hung up and tried again at once");
    if (!wrong.empty() && (*grown > 1 || settled.meaning == Meaning::success)) {
      return std::move(finding).failed(
          harm_of(*grown), "retry at once: " + brief(settled.outcome) + ", " + effects_text(grown), wrong);
    }
    if (settled.meaning != Meaning::success) {
      return std::move(finding).failed(
          Harm::stuck, "retry at once: " + brief(settled.outcome),
          "a request whose client hung up and tried again at once never succeeds");
    }
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
