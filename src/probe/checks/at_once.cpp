#include <algorithm>

#include "probe/checks/retry.hpp"

namespace stet::probe {
namespace {

struct Race {
  std::optional<Response> winner;
  int answered = 0;
  int told_to_wait = 0;
  int without_retry_after = 0;
  Harm harm = Harm::none;
  std::string wrong;
};

Race judge(Subject& subject, const std::vector<Outcome>& outcomes) {
  Race race;
  const auto blame = [&](Harm harm, const std::string& sentence) {
    if (harm > race.harm) {
      race.harm = harm;
      race.wrong = sentence;
    }
  };
  for (const Outcome& outcome : outcomes) {
    if (!outcome) {
      blame(Harm::stuck,
            "of simultaneous requests with one key some get no answer (" + outcome.error().detail + ")");
      continue;
    }
    switch (subject.meaning_of(*outcome)) {
      case Meaning::success:
        ++race.answered;
        if (!race.winner) {
          race.winner = *outcome;
        } else if (const std::string changed = subject.difference(*race.winner, *outcome); !changed.empty()) {
          blame(Harm::answer, "simultaneous requests with one key got different answers (" + changed + ")");
        }
        break;
      case Meaning::in_progress:
      case Meaning::try_later:
        ++race.told_to_wait;
        if (find_header(outcome->headers, "Retry-After") == nullptr) ++race.without_retry_after;
        break;
      case Meaning::unknown:
      case Meaning::refused:
      case Meaning::broken:
        blame(Harm::answer, "a simultaneous request with the same key is turned away with " +
                                std::to_string(outcome->status) + ", as if the operation had failed");
    }
  }
  return race;
}

// How many were really sent at once, over all rounds. A server that has no room for as many as were wanted is
// asked for no more than it took: each that is left outside costs time.
class Crowd {
 public:
  explicit Crowd(int wanted) : wanted_(wanted), size_(wanted), least_(wanted) {}

  int size() const { return size_; }
  void took(int number) {
    least_ = std::min(least_, number);
    most_ = std::max(most_, number);
    if (number + 1 < size_) size_ = number;
  }
  std::string numbers() const {
    return (least_ == most_ ? "" : std::to_string(least_) + " to ") + std::to_string(most_);
  }
  std::string lack() const {  // empty where there was none
    if (least_ == wanted_) return "";
    return "; of " + std::to_string(wanted_) + " connections at once the API took only " + numbers() +
           " (a short listen backlog, or one caller is served after the other)";
  }

 private:
  int wanted_;
  int size_;
  int least_;
  int most_ = 0;
};

Finding run(Subject& subject) {
  const int wanted = subject.settings().concurrency;
  const int rounds = subject.settings().rounds;
  Finding finding;
  finding.expected = "one effect each time; the others get the same answer, or 409 with Retry-After";
  Crowd crowd(wanted);
  int answered = 0;
  int told_to_wait = 0;
  int without_retry_after = 0;
  for (int round = 1; round <= rounds; ++round) {
    subject.forget();
    const Request request = subject.fresh();
    const auto mark = subject.mark();
    const auto outcomes = subject.send_at_once(request, crowd.size());
    const int size = static_cast<int>(outcomes.size());
    if (size == 1 && outcomes.front()) {
      return std::move(finding).skipped("the API took only one of " + std::to_string(wanted) +
                                        " connections at once: it serves one caller after the other");
    }
    crowd.took(size);
    finding.did = "sent " + crowd.numbers() + " equal requests at the same moment, " +
                  std::to_string(rounds) + " times";
    Race race = judge(subject, outcomes);
    const Retried retried =
        retry_and_judge(subject, request, mark, race.winner,
                        "one of " + std::to_string(size) + " simultaneous requests with one key");
    if (retried.harm > race.harm) {
      race.harm = retried.harm;
      race.wrong = retried.harm == Harm::doubled ? "simultaneous requests with one key" +
                                                       retried.wrong.substr(retried.wrong.find(" took"))
                                                 : retried.wrong;
    }
    if (race.harm != Harm::none) {
      return std::move(finding).failed(race.harm,
                                       "in round " + std::to_string(round) + ": " +
                                           std::to_string(race.answered) + " of " + std::to_string(size) +
                                           " succeeded; " + retried.seen + crowd.lack(),
                                       race.wrong);
    }
    answered += race.answered;
    told_to_wait += race.told_to_wait;
    without_retry_after += race.without_retry_after;
  }
  const std::string seen = std::to_string(answered) + " got the one answer, " + std::to_string(told_to_wait) +
                           " were told to wait";
  if (without_retry_after > 0) {
    return std::move(finding).warned(seen + ", " + std::to_string(without_retry_after) +
                                     " of them without Retry-After: a client has to guess when" +
                                     crowd.lack());
  }
  return std::move(finding).passed(seen + crowd.lack());
}

}  // namespace

const Check checks::at_once = {
    "at-once", "Do simultaneous requests with one key act once?",
    R"(Why: a retry does not wait for the first attempt to end. A double click, a client that times out after two seconds on
a server that needs three, a load balancer that hedges: both copies are inside the server at the same time.

In production: the code asks "have I seen this key?", then acts, then notes the key. Two copies both get "no". It is the
most common fault of all, and tests that send one request after the other never show it.

Fix: do not ask first. Claim the key with a statement that only one can win, and act only if you won.

  BEGIN;
  INSERT INTO idempotency (caller, key, fingerprint) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;
  -- In one transaction with the effect the loser waits here, until the winner has committed, and then finds 0 rows:
  -- it reads the answer and replays it. With a claim that is committed before the effect the loser answers
  -- 409 with Retry-After instead.

With Redis it is SET key token NX PX lease, never GET and then SET. A unique violation is not a 500: it means "the other
one has it".)",
    &run};

}  // namespace stet::probe
