#include "gateway/relay.hpp"

namespace stet::gateway {
namespace {

using Stage = http::ResponseReader::Stage;

// Frames one piece as the caller gets it, with what is to go out before it.
class Outgoing {
 public:
  Outgoing(http::BodyFraming framing, std::string pending) : framing_(framing), before_(std::move(pending)) {}
  Gather piece(std::string_view data) {
    if (framing_ != http::BodyFraming::chunked) return Gather(before_, data);
    http::append_chunk_head(before_, data.size());
    return Gather(before_, data, http::kChunkEnd);
  }
  Gather last() {
    if (framing_ == http::BodyFraming::chunked) before_ += http::kLastChunk;
    return Gather(before_);
  }
  void was_sent() { before_.clear(); }
  bool empty() const { return before_.empty(); }
  std::string_view waiting() const { return before_; }

 private:
  http::BodyFraming framing_;
  std::string before_;
};

}  // namespace

http::OutgoingBody outgoing_body(http::BodyFraming framing, std::uint64_t content_length, int client_minor) {
  switch (framing) {
    case http::BodyFraming::none: return http::OutgoingBody::none();
    case http::BodyFraming::sized: return http::OutgoingBody::sized(content_length);
    case http::BodyFraming::chunked:
    case http::BodyFraming::until_close: break;
  }
  return client_minor >= 1 ? http::OutgoingBody::chunked() : http::OutgoingBody::until_close();
}

Task<Relayed> relay_body(Session& session, UpstreamLink& upstream, http::ResponseReader& reader,
                         http::OutgoingBody framing, std::string pending,
                         std::optional<milliseconds> patience) {
  Link& caller = session.link();
  Outgoing out(framing.framing, std::move(pending));
  for (;;) {
    const auto progress = reader.read(upstream.in.data());
    if (!progress) break;
    if (progress->stage == Stage::body && !progress->data.empty()) {
      if (co_await caller.write(out.piece(progress->data)) != Link::Sent::all) break;
      out.was_sent();
    }
    upstream.in.consume(progress->consumed);
    if (progress->stage == Stage::done) {
      const Gather last = out.last();
      if (!last.empty() && co_await caller.write(last) != Link::Sent::all) break;
      co_return Relayed::whole;
    }
    if (progress->stage != Stage::more) continue;
    // The head of an event stream is not held back until its first event.
    if (!out.empty()) {
      if (co_await caller.write(Gather(out.waiting())) != Link::Sent::all) break;
      out.was_sent();
    }
    if (patience) upstream.link.due_in(*patience);
    const Link::Got got = co_await upstream.link.read(upstream.in, ReadBuffer::kComfortable);
    upstream.link.due_never();
    if (got == Link::Got::lost || (got == Link::Got::end && !reader.end_of_stream())) break;
  }
  caller.reset();
  co_return Relayed::broken;
}

Task<After> relay_rest(Session& session, Request& request, Response response, UpstreamAttempt::Rest rest) {
  const http::OutgoingBody body = outgoing_body(rest.framing, rest.content_length, request.head.minor);
  const bool ends_connection = body.framing == http::BodyFraming::until_close;
  http::Reply reply;
  reply.status = response.status;
  reply.fields = response.fields;
  reply.more = response.more;
  reply.body = body;
  reply.persistence = ends_connection ? http::Persistence::close : session.persistence(request);
  reply.client_minor = request.head.minor;
  reply.now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
  std::string pending;
  http::append_response_head(pending, reply);
  if (!rest.begun.empty()) {
    if (body.framing == http::BodyFraming::chunked) http::append_chunk_head(pending, rest.begun.size());
    pending += rest.begun;
    if (body.framing == http::BodyFraming::chunked) pending += http::kChunkEnd;
  }
  request.status = response.status;
  UpstreamLink& upstream = *rest.link;
  session.watch_caller([&upstream] { upstream.link.abort(); }, Session::Gone::when_it_no_longer_reads);
  const Relayed relayed = co_await relay_body(session, upstream, rest.reader, body, std::move(pending),
                                              request.route->route.policy.response_timeout);
  session.watch_caller(nullptr);
  if (relayed == Relayed::broken) co_return After::close;
  co_return reply.persistence == http::Persistence::keep ? After::keep : After::close;
}

}  // namespace stet::gateway
