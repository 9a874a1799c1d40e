#pragma once
// A request's body on its way to the upstream, while the answer may already be coming back.

#include "gateway/gate.hpp"
#include "gateway/session.hpp"
#include "gateway/upstream_pool.hpp"
#include "http/serialize.hpp"

namespace stet::gateway {

class BodyPump {
 public:
  BodyPump(Session& session, Request& request, UpstreamLink& upstream, http::BodyFraming framing)
      : session_(session), request_(request), upstream_(upstream), framing_(framing) {}

  enum class State : std::uint8_t {
    running,
    sent,           // all of it
    caller_gone,
    malformed,      // the caller broke its own framing
    upstream_shut,  // it takes no more; an answer may still come
  };
  State state() const { return state_; }

  Task<void> run();     // in a coroutine of its own
  Task<void> stop();    // makes run() end, if it has not, and waits for that

 private:
  Task<State> pump();

  Session& session_;
  Request& request_;
  UpstreamLink& upstream_;
  http::BodyFraming framing_;
  State state_ = State::running;
  Gate ended_;
};

}  // namespace stet::gateway
