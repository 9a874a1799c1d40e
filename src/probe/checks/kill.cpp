#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "probe/checks/retry.hpp"

namespace stet::probe {
namespace {

constexpr std::chrono::seconds kComeUp{30};        // for a server to listen again
constexpr std::chrono::seconds kEffectSeen{5};     // for an effect to show, before the kill comes anyway
constexpr std::chrono::milliseconds kQuickest{2};  // an answering time below which clocks say little

// When the server dies. Random moments alone would meet the few that matter only by luck: right after the
// answer, when everything should be safe, and right after the effect, when what is kept about the key may not
// be.
enum class Moment : std::uint8_t { random, effect_seen, answered };

Moment moment_of(int round, const Subject& subject) {
  if (round % 4 == 1) return Moment::answered;
  return round % 4 == 2 && subject.counts_effects() ? Moment::effect_seen : Moment::random;
}

// Random moments, but spread: each round has its own part of the time that a request takes, and a little
// more. The usual time, not the longest: one slow answer, and all further kills would come after the work.
class Delays {
 public:
  explicit Delays(int rounds) : parts_(std::max(rounds / 2, 1)) {}

  void seen(std::chrono::milliseconds took) { seen_.insert(std::ranges::upper_bound(seen_, took), took); }
  std::chrono::microseconds next() {
    const auto usual = seen_.empty() ? kQuickest : std::max(kQuickest, seen_[(seen_.size() - 1) / 2]);
    const auto span = std::chrono::microseconds(usual) * 5 / 4;
    const std::int64_t part = span.count() / parts_;
    const std::int64_t start = part * (number_++ % parts_);
    return std::chrono::microseconds(start + std::uniform_int_distribution<std::int64_t>(0, part)(random_));
  }

 private:
  std::int64_t parts_;
  std::int64_t number_ = 0;
  std::vector<std::chrono::milliseconds> seen_;  // in order; most are of a server that has just been started
  std::mt19937_64 random_{std::random_device{}()};
};

struct Round {
  Outcome before;  // what the client had when the server died
  Subject::Settled after;
  std::optional<std::int64_t> grown;
};

// Waits for the moment while `client` runs.
std::string wait_for(Moment moment, Subject& subject, Subject::Mark mark, Delays& delays, std::thread& client,
                     const std::atomic<bool>& answered) {
  switch (moment) {
    case Moment::answered:
      client.join();
      return "after the answer";
    case Moment::effect_seen: {
      const Deadline late = Clock::now() + kEffectSeen;
      while (subject.mark().count == mark.count && !answered && Clock::now() < late) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      return "as soon as the effect was seen";
    }
    case Moment::random:
      break;
  }
  const auto delay = delays.next();
  std::this_thread::sleep_for(delay);
  return "after " + std::to_string(delay.count()) + " us";
}

// Sends the request, kills the server at that moment, restarts it, and retries.
Round play(Subject& subject, const Request& request, Moment moment, Delays& delays) {
  const auto mark = subject.mark();
  Outcome before = tl::unexpected(Failure{});
  std::atomic<bool> answered = false;
  std::thread client([&] {
    before = exchange(request, subject.route());
    answered = true;
  });
  std::string when;
  std::string trouble;
  try {
    when = wait_for(moment, subject, mark, delays, client, answered);
    trouble = subject.server().kill(subject.route().deadline());
  } catch (const NoVerdict& no_verdict) {
    trouble = no_verdict.what();
  }
  if (client.joinable()) client.join();
  if (!trouble.empty()) throw NoVerdict(trouble);
  if (before) delays.seen(before->took);
  subject.remark("sent, and the server killed " + when + "; the client had: " + brief(before));
  const std::string not_up = subject.server().restart(std::min(subject.route().end, Clock::now() + kComeUp));
  if (!not_up.empty()) throw NoVerdict("after a kill " + not_up);
  Subject::Settled after = subject.settle(request);
  const auto grown = subject.grown(mark, after.meaning == Meaning::success ? 1 : 0);
  return {std::move(before), std::move(after), grown};
}

struct Wrong {
  Harm harm = Harm::none;
  std::string sentence;
};

Wrong judge(const Subject& subject, const Round& round) {
  if (round.grown && *round.grown > 1)
    return {Harm::doubled, wrong_effects(round.grown, "a request that a crash interrupted")};
  const bool was_answered = round.before && subject.meaning_of(*round.before) == Meaning::success;
  switch (round.after.meaning) {
    case Meaning::success: {
      if (round.grown && *round.grown < 1)
        return {Harm::lost, wrong_effects(round.grown, "a request that a crash interrupted")};
      const std::string changed = was_answered ? subject.difference(*round.before, *round.after.outcome) : "";
      if (!changed.empty())
        return {Harm::answer,
                "an answer that was given before the crash is another one after it (" + changed + ")"};
      return {};
    }
    case Meaning::unknown:
      if (was_answered)
        return {Harm::answer, "an answer that was given before the crash is forgotten after it"};
      return {};
    case Meaning::in_progress:
      return {Harm::stuck, "after a crash the key stays locked: every retry is told 'in progress'"};
    case Meaning::try_later:
      return {Harm::stuck, "after a crash every retry meets a passing error that does not pass"};
    case Meaning::refused:
    case Meaning::broken:
      return {Harm::stuck, "after a crash the retry is turned away with " +
                               std::to_string(round.after.outcome->status) +
                               ", neither an answer nor an honest 'unknown'"};
  }
  return {};
}

Finding run(Subject& subject) {
  const int rounds = subject.settings().rounds;
  Finding finding;
  finding.did =
      "killed the server (SIGKILL) in the middle of a request or right after it, restarted it and retried, " +
      std::to_string(rounds) + " times";
  finding.expected = "at most one effect for each key; the retry ends in an answer or an honest 'unknown'";
  if (!subject.server().can_kill()) {
    return std::move(finding).skipped("nothing says how to kill the server (--kill and --start, or --exec)");
  }
  Delays delays(rounds);
  delays.seen(subject.usual_time());
  int answered = 0;
  int unknown = 0;
  for (int number = 1; number <= rounds; ++number) {
    subject.forget();
    const Round round = play(subject, subject.fresh(), moment_of(number, subject), delays);
    const Wrong wrong = judge(subject, round);
    if (wrong.harm != Harm::none) {
      return std::move(finding).failed(
          wrong.harm,
          "in round " + std::to_string(number) + ": before: " + brief(round.before) +
              "; after: " + brief(round.after.outcome) +
              (round.grown ? "; " + effects_text(round.grown) : "") + "; " + wrong.sentence,
          wrong.sentence);
    }
    ++(round.after.meaning == Meaning::unknown ? unknown : answered);
  }
  return std::move(finding).passed(std::to_string(answered) + " ended in an answer, " +
                                   std::to_string(unknown) + " in an honest 'unknown'");
}

}  // namespace

const Check checks::kill = {
    "kill", "If the server dies in the middle, does the retry act at most once and come to an end?",
    R"(Why: processes die between any two lines of code: deployments, memory limits, power. What was true on disk at that moment
is all that the retry finds.

In production: (1) the effect is committed, the key is to be noted in a second transaction, and the process dies in between:
the retry acts again. (2) The key was locked first, and nobody is left to unlock it: the client is told "in progress" for
three days.

Fix: one transaction for the key, the effect and the answer: either all of it is there or none.

  BEGIN;
  INSERT INTO idempotency (caller, key, fingerprint) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;
  INSERT INTO charges …;
  UPDATE idempotency SET status = 201, body = … WHERE caller = $1 AND key = $2;
  COMMIT;

Where the effect is elsewhere (a payment provider), give the lock a lease (locked_until) and, when it has run out, ask the
provider by the same key what happened, or answer honestly that the outcome is unknown. Never just run again.)",
    &run};

}  // namespace stet::probe
