#pragma once
// Drives one Exchange: does what its actions say and tells it what happened. It decides nothing about keys, states or
// statuses. Owned by nobody who can hang up: it lives until its machine has finished.
//
// Of one worker's thread. The store and other operations answer by letter.

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "gateway/gate.hpp"
#include "gateway/request.hpp"
#include "gateway/station.hpp"
#include "gateway/upstream_attempt.hpp"
#include "identify/identify.hpp"
#include "stet/exchange.hpp"

namespace stet::gateway {

// A keyed request that was received whole and identified.
struct KeyedRequest {
  std::shared_ptr<const Request> received;
  std::string body;
  std::string client_address;
  identify::Key key;
  identify::Scope scope;
  Fingerprint fingerprint;
  BodyBudget::Share share;
};

class Operation final : public Timed, public std::enable_shared_from_this<Operation> {
 public:
  Operation(Station&, KeyedRequest);
  ~Operation() override;
  void start();

  // ---- the caller's side ----
  struct Unprotected {};  // on_store_failure = "open": the caller forwards the request itself
  using Reply = std::variant<Shown, Unprotected>;
  Task<void> replied() { return reply_gate_.wait(); }
  bool has_reply() const { return reply_.has_value(); }
  void caller_left();
  Reply take_reply() { return std::move(*reply_); }
  std::string take_body() { return std::move(request_.body); }  // after Unprotected
  BodyBudget::Share& share() { return request_.share; }
  UpstreamAttempt* attempt() { return attempt_.get(); }  // nullptr: nothing was forwarded

  struct Facts {  // for the log
    std::uint32_t attempt = 0;
    std::string why;  // what broke, for operators
    std::chrono::nanoseconds in_store{};
  };
  const Facts& facts() const { return facts_; }

 protected:
  void on_due(MonoTime now) override;

 private:
  void feed(Event);
  void finish();
  void set_due();

  void perform(action::Execute&);
  void perform(action::Find&);
  void perform(action::Refingerprint&);
  void perform(action::Forward&);
  void perform(action::Ask&);
  void perform(action::AwaitOwner&);
  void perform(action::StopWaiting&);
  void perform(action::StopListening&);
  void perform(action::ProxyUnprotected&);
  void perform(action::Reply&);

  void stored(Store::Outcome);
  void told(const RunningOperations::News&);
  void stop_polling(RunningOperations::Polled);
  bool still_in_progress() const;
  void say_late_end();
  Task<void> forward(std::shared_ptr<UpstreamAttempt>);
  Task<void> ask(Token);
  std::string onward_head(const config::UpstreamUrl&, const Token&) const;

  RunningOperations::Of here() const { return {exchange_.id(), request_.fingerprint.digest}; }
  const RouteInUse& route() const { return *request_.received->route; }
  const http::RequestHead& head() const { return request_.received->head; }

  Station& station_;
  KeyedRequest request_;
  Exchange exchange_;
  std::vector<Event> events_;  // not yet fed, while one is
  enum class Feeding : std::uint8_t { no, yes } feeding_ = Feeding::no;
  std::shared_ptr<Operation> self_;  // from start() until the machine has finished
  enum class Life : std::uint8_t { running, finished } life_ = Life::running;

  std::optional<Reply> reply_;
  Gate reply_gate_;
  std::shared_ptr<UpstreamAttempt> attempt_;
  enum class Registered : std::uint8_t { no, yes } registered_ = Registered::no;

  enum class Late : std::uint8_t { no, yes } late_ = Late::no;  // the caller was answered before the end

  std::optional<MonoTime> wake_at_;
  std::optional<MonoTime> pause_ends_;  // AwaitOwner, when nobody here runs it and we ask the store
  enum class Polls : std::uint8_t { no, yes } polls_ = Polls::no;
  std::optional<RunningOperations::Ticket> ticket_;
  admin::Held waiting_;
  admin::Held running_;  // in flight, or detached once the caller has its answer
  MonoTime sent_to_store_{};
  Facts facts_;
};

}  // namespace stet::gateway
