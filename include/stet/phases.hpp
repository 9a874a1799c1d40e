#pragma once
// Operations that call other services: a chain of phases, each ending in one local transaction that also
// moves the operation's recovery point. A retry, or the Completer, goes on after the last finished phase and
// not from the start.
//
//   run_phases(pool, renewer, intent, {}, {
//     {"reserved", [&](stet::Running& op) { begin; …rows…; op.advance(session); commit; }},
//     {"charged", [&](stet::Running& op) { charge(op.derive("charge"));  // the provider drops repeats
//                                          begin; …rows…; op.advance(session); commit; }},
//     {"told", [&](stet::Running& op) { begin; session.emit(…); op.complete(session, answer); commit; }},
//   });
//
// The claim is durable before the first phase starts. A phase may run again when it failed or the process
// died before its commit, never after: so let each call at most one other service, with a derived key, and
// put whatever the next phases need into your rows. advance() and complete() are the last statement before
// the commit: when another attempt has taken over, they throw Fenced, and your rows roll back. After each
// phase the store is asked whether it really was committed (one read), because a phase that forgot to would
// leave its rows out and be passed over for ever.

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "stet/pool.hpp"
#include "stet/renewer.hpp"
#include "stet/run_once.hpp"

namespace stet {

// This attempt is no longer the operation's owner. Roll back and let it pass through.
class Fenced : public std::runtime_error {
 public:
  Fenced() : std::runtime_error("another attempt has taken over this operation") {}
};

// The attempt that is running, as a phase sees it. Lives as long as the phase's call; used by one thread.
class Running {
 public:
  virtual ~Running() = default;
  virtual const Token& token() const = 0;
  virtual const Fingerprint& fingerprint() const = 0;  // the one that the record has

  // The key for a call to another service: the same in every attempt of this operation (derive.hpp).
  std::string derive(std::string_view purpose) const;

  // In the phase's transaction: this phase is finished.
  virtual void advance(Session&) = 0;
  // In the phase's transaction: the operation is finished, whatever phases would follow, and this is its
  // answer. Any status from 100 to 599 is recorded; another is std::invalid_argument.
  virtual void complete(Session&, const Answer&) = 0;
};

struct Phase {
  // The recovery point that it leads to: not empty, unique among the operation's phases, and part of what is
  // stored. A later deploy may change the phases, but operations under way go on by the new list, after the
  // point where they stand: what was moved behind it runs (again), what was moved before it does not.
  // Renaming a point strands the operations that stand there: they end in std::logic_error until the old name
  // is back.
  std::string point;
  std::function<void(Running&)> run;
};

struct PhaseOptions {
  milliseconds retention = std::chrono::hours(24);
  milliseconds tombstone = std::chrono::hours(24);
  milliseconds lease = std::chrono::seconds(30);  // above 0; renewed every third of it
  // No renewal beyond: a phase that hangs loses the operation.
  milliseconds give_up_after = std::chrono::minutes(10);
  std::function<std::optional<Fingerprint>(const Recipe&)> refingerprint{};
};

// Runs what is left of the operation. `ran` when this call completed it, `replayed` when it was complete
// before. What a phase throws passes through, with the operation given back: the next attempt may start at
// once. It does not when the truth turned out to be known: the answer was committed after all (replayed), or
// another attempt has taken over (refused, in_progress). std::logic_error: a phase ended without advance() or
// complete(), or the last one without complete(), or without the commit after it, or the list lacks the
// stored recovery point. std::invalid_argument, before anything is claimed: a point that is empty or there
// twice, a lease that is none.
RunResult run_phases(Pool&, Renewer&, const Intent&, const PhaseOptions&, std::span<const Phase>);
inline RunResult run_phases(Pool& pool, Renewer& renewer, const Intent& intent, const PhaseOptions& options,
                            const std::vector<Phase>& phases) {
  return run_phases(pool, renewer, intent, options, std::span<const Phase>(phases));
}

}  // namespace stet
