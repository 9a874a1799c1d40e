#include "probe/checks/check.hpp"

namespace stet::probe {
namespace {

// Long enough to reach beyond the columns that people choose (36, 64, 100, 128, 200), short enough for the
// usual limit of 255.
constexpr std::size_t kLong = 250;

struct Pair {
  const char* what;
  std::string first;
  std::string second;
  const char* wrong;
};

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::vector<Pair> pairs() {
  const std::string word = random_word(24);
  const std::string stem = random_word(kLong - 1);
  return {
      {"other key", random_uuid(), random_uuid(),
       "a second order that happens to look like the first was swallowed"},
      {"keys that differ in case", word, upper(word),
       "keys that differ only in case are one key: an operation was swallowed"},
      {"long keys that differ at the end", stem + "a", stem + "b",
       "long keys that differ only at the end are one key: an operation was swallowed"},
  };
}

Finding run(Subject& subject) {
  Finding finding;
  finding.did =
      "sent the same body under two keys; under keys that differ only in case; in the last of 250 characters";
  finding.expected = "two effects each time (or a long key refused)";
  std::string seen;
  bool blind = false;
  for (const Pair& pair : pairs()) {
    subject.forget();
    const Request body = subject.fresh();
    const auto mark = subject.mark();
    const Subject::Settled first = subject.settle(subject.with_key(body, pair.first));
    const Subject::Settled second = subject.settle(subject.with_key(body, pair.second));
    const bool refused = first.meaning == Meaning::refused && second.meaning == Meaning::refused;
    const auto grown = subject.grown(mark, refused ? 0 : 2);
    seen += (seen.empty() ? "" : "; ") + std::string(pair.what) + ": " + brief(first.outcome) + ", " +
            brief(second.outcome) + (grown ? ", " + effects_text(grown) : "");
    if (refused && (!grown || *grown == 0)) continue;
    if (first.meaning != Meaning::success || second.meaning != Meaning::success) {
      return std::move(finding).failed(Harm::lost, seen,
                                       std::string("with ") + pair.what + " one operation was turned away");
    }
    const bool joined =
        is_replay_marked(*second.outcome) ||
        (subject.answers_tell_apart() && subject.difference(*first.outcome, *second.outcome).empty());
    if ((grown && *grown < 2) || (!grown && joined))
      return std::move(finding).failed(Harm::lost, seen, pair.wrong);
    if (grown && *grown > 2) {
      return std::move(finding).failed(Harm::doubled, seen,
                                       "two operations took effect " + std::to_string(*grown) + " times");
    }
    blind = blind || (!grown && !subject.answers_tell_apart());
  }
  if (blind) {
    return std::move(finding).warned(
        seen + ": all operations answer alike and nothing counts effects, so this says little");
  }
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::new_intent = {
    "new-intent", "Are two keys two operations, however alike?",
    R"(Why: deduplicating too much is as wrong as too little. Two coffees of the same price to the same table are two coffees.

In production: the server hashes the parameters instead of using the key, and the second order of the same thing within a
day vanishes with a friendly 201. Or the column has a collation that ignores case (MySQL's and SQL Server's default), or is
shorter than the keys that clients send.

Fix: the key alone says which operation it is; the hash of the parameters only checks that the key is used honestly.
Compare keys byte by byte, and refuse what does not fit.

  key varchar(255) COLLATE "C" NOT NULL                         -- PostgreSQL
  `key` varchar(255) CHARACTER SET ascii COLLATE ascii_bin      -- MySQL, with STRICT_ALL_TABLES)",
    &run};

}  // namespace stet::probe
