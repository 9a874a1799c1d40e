#pragma once
// The machine of one request: step(event, now) → actions and the time to wake it. No clock, no I/O, no HTTP.
//
// Whoever drives it (the gateway's coroutine, the simulator, run_once) does what the actions say, in their
// order, and feeds back what happened. At most one store command is in flight. One thread at a time.
//
//   Start → Execute(claim) → Stored(claimed) → Forward → Upstream(outcome) → Execute(complete) → Stored(ok) →
//   Reply
//
// `Reply` comes at most once and may come before the end: a late answer is still stored. `finished()` is the
// end.

#include <chrono>
#include <optional>
#include <variant>
#include <vector>

#include "stet/policy.hpp"
#include "stet/settlement.hpp"
#include "stet/shown.hpp"
#include "stet/store.hpp"

namespace stet {

using MonoTime = std::chrono::steady_clock::time_point;

// What became of the request at the upstream.
namespace upstream {
struct NotSent {  // not one byte left for the upstream
  std::string why;
};
struct Answered {                                            // a complete, valid, final answer
  enum class Says : std::uint8_t { nothing, not_executed };  // `Stet-Not-Executed: 1`
  Answer answer;
  Says says = Says::nothing;
};
struct TooLarge {  // a valid head, and a body larger than the route keeps; the rest waits unread
  Answer head;
  Answered::Says says = Answered::Says::nothing;
};
struct Lost {  // a byte was sent, and no complete valid answer came
  std::string why;
};
}  // namespace upstream
using UpstreamOutcome =
    std::variant<upstream::NotSent, upstream::Answered, upstream::TooLarge, upstream::Lost>;

// What the reconcile URL said (http.md, on_unknown = "ask").
namespace asked {
struct Completed {
  Answer answer;
};
struct NeverExecuted {  // a promise about this attempt and all before it
  std::uint32_t attempt = 0;
};
struct Nothing {};  // any other answer, or none
}  // namespace asked
using AskVerdict = std::variant<asked::Completed, asked::NeverExecuted, asked::Nothing>;

// How an operation that another request of this process runs has ended for its waiters.
namespace owner {
struct NotHere {};  // nobody in this process runs it (or no longer): ask the store again
struct Ended {      // its owner's last word
  Shown shown;
};
struct TooManyWaiters {};
}  // namespace owner
using OwnerNews = std::variant<owner::NotHere, owner::Ended, owner::TooManyWaiters>;

enum class RunsHere : std::uint8_t { no, yes };  // another request of this process is running this operation

namespace event {
struct Start {};
struct Stored {
  Result result;
  RunsHere runs_here = RunsHere::no;
};
struct StoreFailed {
  StoreFailure kind;
};
struct Found {
  std::optional<Record> record;
};
struct Refingerprinted {  // nothing: that recipe cannot be followed here
  std::optional<Fingerprint> fingerprint;
};
struct Upstream {
  UpstreamOutcome outcome;
};
struct Asked {
  AskVerdict verdict;
};
struct OwnerSays {
  OwnerNews news;
};
struct CallerLeft {};  // gives its place among the waiters back; of an operation that runs it changes nothing
struct Woken {};       // wake_at has come
}  // namespace event
using Event =
    std::variant<event::Start, event::Stored, event::StoreFailed, event::Found, event::Refingerprinted,
                 event::Upstream, event::Asked, event::OwnerSays, event::CallerLeft, event::Woken>;

namespace action {
struct Execute {  // → Stored or StoreFailed
  Command command;
};
struct Find {  // → Found or StoreFailed
  OperationId id;
};
struct Refingerprint {  // → Refingerprinted
  Recipe recipe;
};
struct Forward {  // → Upstream, exactly once; register the operation as running here until finished()
  Token token;
  // Not one byte after this: the lease could be somebody else's by then.
  MonoTime send_before = MonoTime::max();
};
struct Ask {  // → Asked
  Token token;
};
struct AwaitOwner {  // → OwnerSays when the owner in this process ends; NotHere after `pause` if none is here
  OperationId id;
  milliseconds pause;
};
struct StopWaiting {};       // for the owner: the caller has been answered
struct StopListening {};     // to the upstream: close its connection; no Upstream event is wanted any more
struct ProxyUnprotected {};  // on_store_failure = "open": forward outside the machine, which has finished
struct Reply {
  Shown shown;
};
}  // namespace action
using Action = std::variant<action::Execute, action::Find, action::Refingerprint, action::Forward,
                            action::Ask, action::AwaitOwner, action::StopWaiting, action::StopListening,
                            action::ProxyUnprotected, action::Reply>;

struct Step {
  std::vector<Action> actions;
  std::optional<MonoTime> wake_at;  // replaces the one before; none: only events matter
};

// Whether an attempt before this one ended unknown.
enum class Earlier : std::uint8_t { none_unknown, one_unknown };

// The request as the machine sees it.
struct Intent {
  std::string scope;
  std::string key;
  Fingerprint fingerprint;
  std::string method;
  std::string path;
};

class Exchange {
 public:
  using MakeNonce = Nonce (*)();
  Exchange(Intent, Policy, MakeNonce = &Nonce::random);

  Step step(const Event&, MonoTime now);
  bool finished() const { return phase_ == Phase::finished; }
  const OperationId& id() const { return id_; }
  // After finished(), for those who waited for this owner: what became of the operation. Nothing when that
  // could not be stored: they ask the store.
  const std::optional<Shown>& last_word() const { return last_word_; }

 private:
  enum class Phase : std::uint8_t {
    idle,
    claiming,
    judging,  // under another recipe
    waiting,  // for another owner
    asking,   // the reconcile URL
    taking_over,
    settling,        // writing what is now known of somebody else's attempt
    renewing_first,  // too little of the lease is left to send: renewed before the first byte
    running,         // the upstream has the request
    storing,         // the outcome is in hand and goes to the store
    rereading,       // fenced
    withdrawing,     // the caller was told that the store is away; if our claim exists after all, free it
    finished,
  };
  // look: a renewal was fenced, and the owner reads why while it goes on listening.
  enum class InFlight : std::uint8_t { nothing, command, renewal, look };

  void on(const event::Start&);
  void on(const event::Stored&);
  void on(const event::StoreFailed&);
  void on(const event::Found&);
  void on(const event::Refingerprinted&);
  void on(const event::Upstream&);
  void on(const event::Asked&);
  void on(const event::OwnerSays&);
  void on(const event::CallerLeft&);
  void on(const event::Woken&);

  void claim();
  void after_claim(const Result&, RunsHere);
  void after_take_over(const Result&);
  void after_renewal(const Result&);
  void after_outcome(const Result&);
  void another_owner(milliseconds retry_after);
  void claimed(const result::Claimed&);
  void take_over(const Token& seen);
  void claim_anew();
  void forward();
  void renew();
  void outcome(const UpstreamOutcome&);
  void begin_storing();
  void look();
  void after_look(const std::optional<Record>&);
  void reread();
  void fenced_by(const std::optional<Record>&);
  void recorded(const Record&);
  void store_is_away(StoreFailure);
  void withdraw();
  Shown best_known() const;
  void caller_waited_enough();
  void send(Phase, std::variant<Command, OperationId>);
  void repeat();
  void reply(Shown);
  void reply_and_finish(Shown);
  void finish();
  bool owns() const;
  bool keeps_lease() const { return phase_ == Phase::running || phase_ == Phase::storing; }
  std::optional<MonoTime> next_wake() const;

  Intent intent_;
  Policy policy_;
  MakeNonce make_nonce_;
  OperationId id_;
  Token token_;  // ours from the first claim on; the nonce is the same until a claim is answered, so that a
                 // claim or take-over whose reply was lost is recognised as ours
  Phase phase_ = Phase::idle;
  InFlight in_flight_ = InFlight::nothing;
  std::variant<Command, OperationId> sent_;  // what is in flight, or is to be repeated at repeat_at_
  std::optional<Settlement> settlement_;     // what the upstream's outcome means, and
  std::optional<Command> outcome_command_;   // what is written of it; waits until a renewal has come back
  std::optional<Shown> last_word_;
  std::optional<result::Mismatch> mismatch_;
  std::optional<Token> seen_;  // the other owner's, while we ask about it
  Earlier earlier_ = Earlier::none_unknown;
  std::uint32_t rounds_ = 0;
  // What the store may hold of this key by our doing or by another's, as far as we have been told.
  enum class Trace : std::uint8_t { none, of_another, perhaps_ours } trace_ = Trace::none;
  enum class Claims : std::uint8_t { all_answered, one_in_doubt } claims_ = Claims::all_answered;
  enum class Caller : std::uint8_t { waits, answered } caller_ = Caller::waits;
  enum class Presence : std::uint8_t { here, left } presence_ = Presence::here;

  MonoTime now_{};
  milliseconds pause_{};
  std::optional<MonoTime> repeat_at_;
  std::optional<MonoTime> renew_at_;
  std::optional<MonoTime> lease_ends_;     // by our clock, counted from before the command was sent
  std::optional<MonoTime> patience_ends_;  // the caller's
  std::optional<MonoTime> store_ends_;     // how long a failing store is tried before anything was sent
  std::optional<MonoTime> completion_ends_;
  Step out_;
};

}  // namespace stet
