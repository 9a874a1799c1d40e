#include "probe/checks/retry.hpp"

namespace stet::probe {
namespace {

Finding run(Subject& subject) {
  Finding finding;
  finding.did = "cut the connection before the request was complete, and sent it again whole";
  finding.expected = "no effect of the half request; the retry works, one effect";
  std::string seen;
  for (int part = 1; part <= 2; ++part) {
    subject.forget();
    const Request request = subject.fresh();
    const std::size_t whole = serialize(request).size();
    const std::size_t missing = part == 1 ? 1 : std::max<std::size_t>(1, request.body.size() / 2);
    const auto mark = subject.mark();
    subject.send_cut(request, Cut{Cut::Place::inside_request, whole - missing, {}});
    const auto early = subject.grown(mark, 0);
    if (early && *early != 0) {
      return std::move(finding).failed(Harm::doubled, "after half a request: " + effects_text(early),
                                       "half a request took effect");
    }
    const Retried retried =
        retry_and_judge(subject, request, mark, std::nullopt, "a request that first arrived cut short");
    seen = (early ? "half: " + effects_text(early) + "; " : "") + retried.seen;
    if (!retried.wrong.empty()) return std::move(finding).failed(retried.harm, seen, retried.wrong);
  }
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::lost_request = {
    "lost-request", "Does half a request do nothing, and leave the key free?",
    R"(Why: a connection can break on the way in as well. The retry is then the first complete copy and must simply work.

In production: a middleware claims the key when the headers arrive and the body never does: the key stays locked until
it expires, and the client hears "in progress" from a request that nobody runs. Worse, a form parser that is content with
half a body acts on it: an amount of 49 instead of 4900.

Fix: read the whole body (Content-Length bytes, or up to the last chunk) before the key is claimed; treat an early end of
the connection as an error, not as the end of the body.)",
    &run};

}  // namespace stet::probe
