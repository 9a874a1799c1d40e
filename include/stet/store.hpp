#pragma once
// The store port. An engine implements it and passes the conformance suite
// (src/stores/conformance), which is the definition of everything said here.

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "stet/error.hpp"
#include "stet/record.hpp"

namespace stet {

namespace command {

struct Claim {
  std::string scope;
  std::string key;
  Nonce nonce;
  Fingerprint fingerprint;
  std::string method;
  std::string path;
  Terms terms;
  milliseconds lease{};
};
struct TakeOver {  // of a lapsed pending record; sets maybe_executed, as the attempt before has ended
                   // unknown; not on a joined record, where pending proves that it did nothing
  Token seen;
  Nonce nonce;
  milliseconds lease{};
};
struct Renew {
  Token token;
  milliseconds lease{};
};
struct Complete {  // also from unknown, while the token is the same: the owner's late truth wins
  Token token;
  Answer answer;
  std::optional<milliseconds> retention;  // none: the record's own
};
struct Release {  // this attempt certainly did nothing
  Token token;
};
struct GiveBack {  // this attempt's outcome is unknown, and another may run
  Token token;
};
struct SettleUnknown {
  // An observer saw it lapsed, and must not settle what its owner has renewed meanwhile: fenced unless it
  // still is.
  enum class By : std::uint8_t { owner, observer };
  Token token;
  By by = By::owner;
};
struct Advance {
  Token token;
  std::string recovery_point;
};
struct Settle {  // operators; only from unknown or a lapsed pending
  Token seen;
  Nonce nonce;                   // a new one, so that a late owner is fenced
  std::optional<Answer> answer;  // none: release
};
struct Sweep {
  std::size_t limit = 1000;  // rows at the most
  enum class Clock : std::uint8_t { checked, trusted };
  Clock clock = Clock::checked;  // trusted: an operator says that the wall clock is right
};

}  // namespace command

using Command = std::variant<command::Claim, command::TakeOver, command::Renew, command::Complete,
                             command::Release, command::GiveBack, command::SettleUnknown, command::Advance,
                             command::Settle, command::Sweep>;

namespace result {

struct Claimed {
  std::uint32_t attempt = 1;
  std::string recovery_point;
  bool maybe_executed = false;
  bool operator==(const Claimed&) const = default;
};
struct Replay {
  Answer answer;
  std::optional<WallTime> expires_at;  // none: forever
  bool operator==(const Replay&) const = default;
};
struct InProgress {
  milliseconds retry_after{};  // what is left of the lease, never more than the lease
  bool operator==(const InProgress&) const = default;
};
struct Mismatch {  // pending, completed or unknown under another fingerprint
  State state = State::pending;
  Fingerprint stored;
  std::string method;
  std::string path;
  bool operator==(const Mismatch&) const = default;
};
struct Lapsed {  // pending, its lease over; nothing was changed
  Token token;
  Terms terms;
  bool maybe_executed = false;
  bool operator==(const Lapsed&) const = default;
};
struct Unknown {
  Token token;
  Terms terms;
  bool operator==(const Unknown&) const = default;
};
struct Expired {
  bool operator==(const Expired&) const = default;
};
struct Ok {
  std::optional<WallTime> expires_at;  // after complete; none: forever, or nothing was completed
  bool operator==(const Ok&) const = default;
};
struct Fenced {
  bool operator==(const Fenced&) const = default;
};
enum class SweepClock : std::uint8_t { sane, jumped };
struct Swept {
  std::size_t expired = 0;              // completed → expired (or gone, when there is no tombstone)
  std::size_t removed = 0;              // expired → gone
  SweepClock clock = SweepClock::sane;  // jumped: nothing was swept (protocol.md, rule 3)
  bool more = false;  // it stopped at a limit of its own: another sweep may find something now
  bool operator==(const Swept&) const = default;
};

}  // namespace result

using Result =
    std::variant<result::Claimed, result::Replay, result::InProgress, result::Mismatch, result::Lapsed,
                 result::Unknown, result::Expired, result::Ok, result::Fenced, result::Swept>;

// What operators ask for.
struct Filter {
  // lapsed: only pending records whose lease is over by the store's own clock, whoever asks and by whatever
  // clock.
  enum class Lease : std::uint8_t { any, lapsed };
  std::optional<State> state;
  std::optional<std::string> scope;  // as stored
  std::optional<std::string> key;
  std::optional<WallTime> created_before;
  Lease lease = Lease::any;
};
struct Page {
  std::vector<Record> records;  // without bodies: `find` brings them
  std::string next;             // cursor; empty at the end
};

class Store {
 public:
  virtual ~Store() = default;

  // One durable unit (a transaction, a pipeline): when it returns, everything in it is as durable as the
  // engine promises. results[i] belongs to commands[i]; a later command of a batch sees the earlier ones.
  // A command that failed alone (a corrupt row, no room for a claim while completions still go through)
  // is a Failed in its own place.
  // Throws StoreError when the unit as a whole failed; then each command is in doubt unless the kind is
  // not_written or full. Called by one thread at a time.
  struct Failed {
    StoreFailure kind;
    std::string what;
    bool operator==(const Failed&) const = default;
  };
  using Outcome = std::variant<Result, Failed>;
  virtual std::vector<Outcome> execute(std::span<const Command> batch) = 0;

  // Answers a claim at once, from any thread, when that needs neither a write nor a wait (a replay of an
  // answer already durable, say); nothing when `execute` has to be asked. Never throws.
  virtual std::optional<Result> peek(const command::Claim&) noexcept { return std::nullopt; }

  // Reading, for the status location and operators. Same thread rule as execute.
  virtual std::optional<Record> find(const OperationId&) = 0;
  virtual Page list(const Filter&, std::size_t limit, const std::string& cursor) = 0;
};

}  // namespace stet
