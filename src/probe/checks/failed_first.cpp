#include "probe/checks/retry.hpp"
#include "probe/effects_sink.hpp"

namespace stet::probe {
namespace {

// A request that fails validation: the same refusal twice.
Finding refuse_twice(Subject& subject, Finding finding) {
  Request bad = subject.settings().request;
  bad.body = *subject.settings().bad_body;
  const Request request = subject.with_key(subject.minted(bad), random_uuid());
  const auto mark = subject.mark();
  const Outcome first = subject.send(request);
  if (!first || is_success(first->status)) {
    return std::move(finding).skipped("the --bad-body does not fail: " + brief(first));
  }
  const Outcome second = subject.send(request);
  const auto grown = subject.grown(mark, 0);
  const std::string seen =
      "bad body: " + brief(first) + "; again: " + brief(second) + (grown ? "; " + effects_text(grown) : "");
  if (grown && *grown != 0) {
    return std::move(finding).failed(Harm::doubled, seen, "a request that was refused took effect");
  }
  const std::string changed = second ? subject.difference(*first, *second) : second.error().detail;
  if (!changed.empty()) {
    return std::move(finding).failed(Harm::answer, seen + "; " + changed,
                                     "a refused request is answered otherwise on retry (" + changed + ")");
  }
  return std::move(finding).passed(seen);
}

// The API's own downstream is out for one attempt: its passing error must pass.
Finding outlive_outage(Subject& subject, EffectsSink& sink, Finding finding) {
  const Request request = subject.fresh();
  const auto mark = subject.mark();
  const std::int64_t turned_away = sink.turned_away();
  sink.become(EffectsSink::Health::out);
  const Outcome first = subject.send(request);
  sink.become(EffectsSink::Health::well);
  std::string seen = (finding.saw.empty() ? "" : finding.saw + "; ") + "downstream out: " + brief(first);
  if (sink.turned_away() == turned_away) {
    seen += " (it was not called while it was out, so that part says nothing)";
    if (finding.result == Result::pass) return std::move(finding).passed(seen);
    return std::move(finding).skipped(seen);
  }
  const Subject::Settled settled = subject.settle(request);
  const auto grown = subject.grown(mark, settled.meaning == Meaning::success ? 1 : 0);
  seen += "; downstream well again: " + brief(settled.outcome) + (grown ? "; " + effects_text(grown) : "");
  if (grown && *grown > 1) {
    return std::move(finding).failed(Harm::doubled, seen,
                                     wrong_effects(grown, "a request whose downstream was out for a moment"));
  }
  if (settled.meaning == Meaning::success && grown && *grown < 1) {
    return std::move(finding).failed(Harm::lost, seen,
                                     wrong_effects(grown, "a request whose downstream was out for a moment"));
  }
  const bool pinned = settled.meaning == Meaning::try_later || settled.meaning == Meaning::in_progress;
  if (pinned) {
    return std::move(finding).failed(
        Harm::stuck, seen,
        "a passing error stays with the key: every retry gets the same " +
            (settled.outcome ? std::to_string(settled.outcome->status) : std::string("silence")));
  }
  return std::move(finding).passed(seen);
}

Finding run(Subject& subject) {
  Finding finding;
  finding.did = "sent a request that fails, and sent it again";
  finding.expected = "a refusal is repeated alike, without an effect; a passing error passes";
  EffectsSink* sink = subject.sink();
  if (!subject.settings().bad_body && sink == nullptr) {
    return std::move(finding).skipped("no failing body was given (--bad-body)");
  }
  if (subject.settings().bad_body) finding = refuse_twice(subject, std::move(finding));
  if (sink != nullptr && finding.result != Result::fail)
    finding = outlive_outage(subject, *sink, std::move(finding));
  return finding;
}

}  // namespace

const Check checks::failed_first = {
    "failed-first", "Is a failure repeated alike, and a passing one not for ever?",
    R"(Why: a retry of a refused request must be refused alike, or the client takes the second answer for a success of the
first. A passing error (503, a downstream that is out) is the opposite: nothing was decided, and it must not be kept.

In production: the middleware stores whatever the handler answered. For one minute the payment provider is out; every key
of that minute is answered 503 for the next 24 hours, however often the client retries. The people whose carts are stuck
then pay by a new key, and those whose payment had gone through pay twice.

Fix: store what is decided (2xx, 4xx), release the key when it is certain that nothing happened, and say "unknown" when it
is not.

  -- in the handler of a downstream error that is certain to have done nothing:
  DELETE FROM idempotency WHERE caller = $1 AND key = $2 AND status IS NULL;)",
    &run};

}  // namespace stet::probe
