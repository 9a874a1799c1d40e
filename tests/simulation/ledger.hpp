#pragma once
// What the simulated upstream did and said: the truth that everything shown is compared with.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stet/exchange.hpp"

namespace stet::simulation {

class Ledger {
 public:
  enum class Upstream : std::uint8_t { naive, deduplicates, joins };
  explicit Ledger(Upstream kind) : kind_(kind) {}

  // The request of one attempt arrives and is executed (or, where repeats are dropped, recognised).
  // Nothing when the upstream has promised never to execute this attempt.
  std::optional<Answer> execute(const Token&);
  // The same in two steps, where the effect and its answer commit together.
  Answer prepare(const Token&);
  void took_effect(const Token&, const Answer&);
  // What the reconcile URL says: a remembered answer, or a promise that from now on is kept.
  AskVerdict asked(const Token&);

  std::size_t effects(const std::string& key) const;
  bool said(const std::string& key, const Answer&) const;

 private:
  struct Entry {
    std::size_t effects = 0;
    std::vector<Answer> answers;
    std::uint32_t promised = 0;  // attempts up to this one never execute
  };
  Upstream kind_;
  std::map<std::string, Entry> entries_;
  std::size_t responses_ = 0;
};

}  // namespace stet::simulation
