#include "gateway/body_pump.hpp"

namespace stet::gateway {

Task<void> BodyPump::run() {
  state_ = co_await pump();
  // Nobody will complete this request: the upstream must not wait for the rest, nor we for its answer.
  if (state_ == State::caller_gone || state_ == State::malformed) upstream_.link.abort();
  session_.link().due_never();
  ended_.open();
}

Task<void> BodyPump::stop() {
  if (state_ == State::running) {
    upstream_.link.abort();
    session_.link().cancel();
    co_await ended_.wait();
  }
}

Task<BodyPump::State> BodyPump::pump() {
  const auto idle = request_.snapshot->config().limits.body_idle_timeout;
  const bool chunked = framing_ == http::BodyFraming::chunked;
  std::string chunk_head;
  for (;;) {
    const auto piece = request_.body.next(session_.in().data());
    if (!piece) co_return State::malformed;
    if (!piece->data.empty()) {
      chunk_head.clear();
      if (chunked) http::append_chunk_head(chunk_head, piece->data.size());
      const Gather out(chunk_head, piece->data, chunked ? http::kChunkEnd : std::string_view());
      if (co_await upstream_.link.write(out) != Link::Sent::all) co_return State::upstream_shut;
    }
    session_.in().consume(piece->consumed);
    if (request_.body.done()) break;
    if (piece->consumed > 0) continue;
    session_.link().due_in(idle);
    const Link::Got got = co_await session_.link().read(session_.in(), ReadBuffer::kComfortable);
    session_.link().due_never();
    if (got != Link::Got::data) co_return State::caller_gone;
  }
  if (chunked && co_await upstream_.link.write(Gather(http::kLastChunk)) != Link::Sent::all) {
    co_return State::upstream_shut;
  }
  co_return State::sent;
}

}  // namespace stet::gateway
