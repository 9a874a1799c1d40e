#include "gateway/tunnel.hpp"

#include "gateway/gate.hpp"
#include "gateway/spawn.hpp"
#include "http/serialize.hpp"

namespace stet::gateway {
namespace {

// One direction: what was read already, then whatever comes, then the end.
Task<void> copy(Link& from, ReadBuffer& buffer, Link& to) {
  for (;;) {
    if (!buffer.empty()) {
      if (co_await to.write(Gather(buffer.data())) != Link::Sent::all) break;
      buffer.consume(buffer.size());
    }
    const Link::Got got = co_await from.read(buffer, ReadBuffer::kComfortable);
    if (got == Link::Got::data) continue;
    if (got == Link::Got::lost) break;
    co_await to.finish_writing();  // the other direction may go on
    to.due_never();
    co_return;
  }
  from.abort();
  to.abort();
}

Task<void> copy_and_open(Link& from, ReadBuffer& buffer, Link& to, Gate& gate) {
  co_await copy(from, buffer, to);
  gate.open();
}

}  // namespace

Task<void> tunnel(Session& session, Request& request, UpstreamLinkPtr upstream, const http::ResponseHead& switched) {
  const Headers lines = http::end_to_end(switched.fields);
  const std::string upgrade(switched.fields.first("Upgrade").value_or(request.head.upgrade));
  http::Reply reply;
  reply.status = 101;
  reply.fields = lines;
  reply.client_minor = request.head.minor;
  reply.now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
  reply.upgrade = upgrade;
  std::string head;
  http::append_response_head(head, reply);
  if (co_await session.link().write(Gather(head)) != Link::Sent::all) co_return;

  Gate upward_ended;
  spawn(session.station().worker, copy_and_open(session.link(), session.in(), upstream->link, upward_ended));
  co_await copy(upstream->link, upstream->in, session.link());
  co_await upward_ended.wait();
}

}  // namespace stet::gateway
