#include "probe/checks/retry.hpp"

namespace stet::probe {
namespace {

// Far beyond what any system takes for a key (the usual limit is 255).
constexpr std::size_t kOverLong = 5'000;

struct Form {
  const char* name;
  Request request;
  const char* if_accepted;
};

Finding run(Subject& subject) {
  Finding finding;
  finding.did = "spelled keys in other ways: quoted, empty, over-long, doubled";
  finding.expected = "\"k\" and k are one key; the others are refused";
  std::string seen;
  std::string loose;

  const Request bare = subject.fresh();
  const std::string key = *find_header(bare.headers, subject.settings().key_header);
  const auto mark = subject.mark();
  const Subject::Settled first = subject.settle(bare);
  const Outcome second = subject.send(subject.with_key(bare, "\"" + key + "\""));
  const auto grown = subject.grown(mark, 1);
  const bool one_key = first.meaning == Meaning::success && second &&
                       subject.difference(*first.outcome, *second).empty() && (!grown || *grown == 1);
  seen = "quoted: " + brief(second) + (grown ? " (" + effects_text(grown) + ")" : "");
  if (!one_key) loose = "a quoted key is not the bare one";

  Request doubled = subject.with_key(subject.fresh(), random_uuid());
  doubled.headers.push_back({subject.settings().key_header, random_uuid()});
  const std::vector<Form> forms = {
      {"empty", subject.with_key(subject.fresh(), ""),
       "an empty key, the usual result of a variable that is not set, is accepted"},
      {"over-long", subject.with_key(subject.fresh(), random_word(kOverLong)),
       "a key of 5000 characters is accepted"},
      {"doubled", doubled,
       "two keys on one request are accepted: a client that adds a fresh one on retry acts twice"},
  };
  for (const Form& form : forms) {
    const auto before = subject.mark();
    const Outcome outcome = subject.send(form.request);
    const auto effects = subject.grown(before, 0);
    const std::string text = std::string(form.name) + ": " +
                             (outcome ? std::to_string(outcome->status) : brief(outcome)) +
                             (effects ? " (" + effects_text(effects) + ")" : "");
    seen += "; " + text;
    if (outcome && is_success(outcome->status)) {
      return std::move(finding).failed(Harm::form, seen, form.if_accepted);
    }
    if (effects && *effects != 0) {
      return std::move(finding).failed(
          Harm::doubled, seen,
          std::string("a request with a bad key (") + form.name + ") was refused and took effect");
    }
    if (outcome && outcome->status >= 500) {
      return std::move(finding).failed(
          Harm::form, seen,
          std::string("a bad key (") + form.name + ") ends in a server error, which clients retry");
    }
  }
  if (!loose.empty()) return std::move(finding).warned(seen + ": " + loose);
  return std::move(finding).passed(seen);
}

}  // namespace

const Check checks::key_forms = {
    "key-forms", "Are odd spellings of a key understood or refused?",
    R"(Why: two spellings of one key must not be two keys, and what is not a key must not pass for one.

In production: half of the clients send the draft standard's quoted string, half the bare one, and a proxy or a new version
of an SDK changes from one to the other between two attempts. An unset variable sends an empty key: all such requests are
one operation, or none of them is protected. An SDK that adds its own header beside yours sends two: first wins today, last
wins after an update. A column of 64 characters cuts long keys, so that two operations become one.

Fix: exactly one header line, 1 to 255 visible characters, quotes taken off; everything else is a 400.

  key text NOT NULL CHECK (length(key) BETWEEN 1 AND 255)      -- an error, never a silent cut)",
    &run};

}  // namespace stet::probe
