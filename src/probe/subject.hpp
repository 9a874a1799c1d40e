#pragma once
// The API under test as the checks see it: fresh operations, sends of every kind, the count of effects, and a
// transcript of what was sent, for the curl lines of a failure.

#include <functional>
#include <optional>
#include <stdexcept>

#include "probe/fault_proxy.hpp"
#include "probe/finding.hpp"
#include "probe/meaning.hpp"
#include "probe/server_control.hpp"
#include "probe/settings.hpp"

namespace stet::probe {

class EffectsSink;

// There is no verdict: the API cannot be reached, effects cannot be counted, time is over. Caught by run().
class NoVerdict : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Subject {
 public:
  // `effects` may be null: no oracle. All outlive the subject.
  Subject(const Settings&, Effects* effects, ServerControl&, Deadline end);

  const Settings& settings() const { return settings_; }
  const Route& route() const { return route_; }
  ServerControl& server() { return server_; }
  EffectsSink* sink() const;

  // Sends two plain requests, to learn what an answer looks like and what one operation adds to the effects.
  void get_to_know();
  const Response& plain() const { return *plain_; }
  std::chrono::milliseconds usual_time() const { return usual_time_; }
  bool answers_tell_apart() const { return answers_tell_apart_; }  // two operations, two different answers
  std::int64_t unit() const { return unit_; }                      // what one operation adds to the count
  Meaning meaning_of(const Response& response) const { return meaning(response, plain().status); }

  // As meaning.hpp has it, without the headers that the user does not want to count.
  std::string difference(const Response& first, const Response& second) const {
    return probe::difference(first, second, settings_.ignored_headers);
  }

  // A new operation: fresh template values under a fresh key.
  Request fresh();
  Request minted(const Request& pattern) { return minter_.mint(pattern); }
  Request with_key(Request, const std::string& key_line) const;
  Request without_key(Request) const;

  Outcome send(const Request&);  // on a connection of its own
  Outcome send_on(Line&, const Request&);
  std::vector<Outcome> send_at_once(const Request&, int copies);  // fewer, where the API lets fewer in
  CutExchange send_cut(const Request&, Cut);

  // What a client that retries does: sends until the answer is final, or patience is over.
  struct Settled {
    Outcome outcome;
    Meaning meaning = Meaning::try_later;
    int attempts = 0;
  };
  Settled settle(const Request&);

  // Effects, in units of what one plain operation adds.
  struct Mark {
    std::int64_t count = 0;
  };
  bool counts_effects() const { return effects_ != nullptr; }
  Mark mark();
  std::optional<std::int64_t> grown(Mark, std::int64_t expected);  // nothing without an oracle

  void forget() { transcript_.clear(); }
  void remark(const std::string& what) { transcript_.push_back("# " + what); }
  std::vector<std::string> transcript() const;

 private:
  std::int64_t count(std::int64_t expected_at_least, Settling);
  void record(const Request&, const std::string& how, const std::string& seen);
  void require_time() const;

  const Settings& settings_;
  Effects* effects_;
  ServerControl& server_;
  Route route_;
  Minter minter_;
  std::optional<Response> plain_;
  std::chrono::milliseconds usual_time_{0};
  bool answers_tell_apart_ = false;
  std::int64_t unit_ = 1;
  std::vector<std::string> transcript_;
};

// "effects +2", or "" without an oracle.
std::string effects_text(const std::optional<std::int64_t>& grown);

}  // namespace stet::probe
