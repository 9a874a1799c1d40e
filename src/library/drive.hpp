#pragma once
// The blocking driver of Exchange: pumps events and does what the actions say. It judges nothing.
//
// Two threads may pump: the caller's, and the Renewer's while the work runs. One at a time, by the mutex.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "stet/exchange.hpp"
#include "stet/run_once.hpp"

namespace stet::library {

// Terms::scope_rule of what the library claims: the scope is what the service says, and no gateway can find
// it again.
inline constexpr const char* kScopeRule = "library";

using Refingerprint = std::function<std::optional<Fingerprint>(const Recipe&)>;

// Where store trouble goes: in somebody's transaction every later statement would fail too, so nothing can be
// repeated there; a store with transactions of its own is asked again, by the machine's rules.
enum class StoreTrouble : std::uint8_t { passes_through, is_an_event };

class Drive {
 public:
  // All of them outlive the drive.
  Drive(Store&, StoreTrouble, const Intent&, Policy, const Refingerprint&);
  Drive(const Drive&) = delete;
  Drive& operator=(const Drive&) = delete;

  struct Granted {
    Token token;
    Fingerprint fingerprint;  // the record's
    std::string recovery_point;
  };
  // Until the work may run, or the end: then `shown` says why.
  std::optional<Granted> claim();
  // What the work came to; returns at the end.
  void settle(const UpstreamOutcome&);
  // Another attempt has taken over, or the work took too long: it must stop.
  bool lost() const { return lost_; }

  // What the machine wants the caller to be told.
  const Shown& shown() const { return shown_; }

  // The Renewer's part: what is due is done; when to come again. Throws nothing.
  std::optional<MonoTime> wake() noexcept;

 private:
  void pump(Event event);
  void tell(const Shown&);
  // In somebody's transaction it would be rolled back with the refusal; an application's role may not do it.
  bool would_settle_in_vain(const Command&) const;
  Command as_sent(Command) const;
  Event execute(const Command& by_machine);
  Event find(const OperationId&);
  void until_forwarded_or_finished(std::unique_lock<std::mutex>&);

  Store& store_;
  const StoreTrouble trouble_;
  const Refingerprint& refingerprint_;
  std::mutex mutex_;
  Exchange exchange_;
  std::optional<MonoTime> wake_at_;
  std::optional<Granted> granted_;
  Fingerprint claimed_;  // with which the last claim was made
  std::string recovery_point_;
  Shown shown_;
  bool replied_ = false;
  std::atomic<bool> lost_ = false;
};

// No span is longer: the clocks' arithmetic overflows at some centuries.
inline constexpr milliseconds kLongest = std::chrono::hours(24 * 365);

// Of what the library claims. Whatever its own records say, of others' it takes over those whose next attempt
// may run.
Policy policy(OnUnknown, milliseconds retention, milliseconds tombstone);

// No store could read another one again. Throws std::invalid_argument.
void must_be_a_status(int);

// What the caller of run_once or run_phases is told.
Ending ending_of(const Shown&);

}  // namespace stet::library
