#pragma once
// One exchange driven by hand, and the values that its tests share.

#include <gtest/gtest.h>

#include "stet/exchange.hpp"

namespace stet {

using namespace std::chrono_literals;

inline Nonce fixed_nonce() {
  return Nonce{{1, 2, 3}};
}

// Drives one exchange by hand, keeping the actions of the last step.
struct Driven {
  explicit Driven(Policy policy = {}, Exchange::MakeNonce make_nonce = &fixed_nonce)
      : exchange({"scope", "key", Fingerprint{{}, "v1"}, "POST", "/charges"}, std::move(policy), make_nonce) {
    feed(event::Start{});
  }

  void feed(const Event& event) {
    Step step = exchange.step(event, now);
    actions = std::move(step.actions);
    wake_at = step.wake_at;
    for (const Action& action : actions) {
      if (const auto* reply = std::get_if<action::Reply>(&action)) {
        EXPECT_FALSE(shown) << "answered twice";
        shown = reply->shown;
      }
      if (std::holds_alternative<action::Forward>(action)) ++forwards;
    }
  }
  void stored(Result result, RunsHere here = RunsHere::no) { feed(event::Stored{std::move(result), here}); }
  void upstream(UpstreamOutcome outcome) { feed(event::Upstream{std::move(outcome)}); }
  // The store fails in this way, again and again, until the caller is told something.
  void fail_until_shown(StoreFailure how) {
    for (int i = 0; i < 100 && !shown; ++i) {
      feed(event::StoreFailed{how});
      if (!shown) wake();
    }
    ASSERT_TRUE(shown);
  }
  void wake() {
    ASSERT_TRUE(wake_at);
    now = *wake_at;
    feed(event::Woken{});
  }
  template <class C>
  const C* command() const {
    for (const Action& action : actions) {
      if (const auto* execute = std::get_if<action::Execute>(&action))
        return std::get_if<C>(&execute->command);
    }
    return nullptr;
  }
  template <class A>
  const A* did() const {
    for (const Action& action : actions) {
      if (const auto* found = std::get_if<A>(&action)) return found;
    }
    return nullptr;
  }

  Exchange exchange;
  MonoTime now{1h};
  std::vector<Action> actions;
  std::optional<MonoTime> wake_at;
  std::optional<Shown> shown;
  int forwards = 0;
};

inline Policy with(OnUnknown on_unknown, UpstreamPromise promise = UpstreamPromise::none) {
  Policy policy;
  policy.terms.on_unknown = on_unknown;
  policy.promise = promise;
  return policy;
}

inline Policy in_time(milliseconds response, milliseconds completion) {
  Policy policy;
  policy.response_timeout = response;
  policy.completion_timeout = completion;
  return policy;
}

inline Policy in_mode(InProgressMode mode) {
  Policy policy;
  policy.in_progress = mode;
  return policy;
}

inline Terms terms(OnUnknown on_unknown) {
  Terms terms;
  terms.on_unknown = on_unknown;
  return terms;
}

inline const UpstreamOutcome kCreated = upstream::Answered{Answer{201, {{"Location", "/c/1"}}, "{}"}, {}};
inline const Token kOurs{"scope", "key", fixed_nonce(), 1};
inline const Token kStranger{"scope", "key", Nonce{{9}}, 4};

// Of the request that a Driven makes.
inline Record record_of(const Token& token, State state = State::pending) {
  Record record;
  record.token = token;
  record.fingerprint = {{}, "v1"};
  record.state = state;
  return record;
}

inline Record completed_record(const Token& token, std::string body) {
  Record record = record_of(token, State::completed);
  record.answer = Answer{200, {}, std::move(body)};
  return record;
}

// Claimed at once, and on its way to the upstream.
inline Driven forwarded(Policy policy = {}) {
  Driven run(std::move(policy));
  run.stored(result::Claimed{});
  EXPECT_EQ(run.forwards, 1);
  return run;
}

}  // namespace stet
