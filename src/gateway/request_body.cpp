#include "gateway/request_body.hpp"

#include <algorithm>

#include "http/serialize.hpp"

namespace stet::gateway {
namespace {

// A length is only a word: memory is taken, and counted, as the bytes come.
constexpr std::uint64_t kReservedAtMost = 1 << 20;

}  // namespace

Task<void> say_continue(Session& session, Request& request) {
  if (!request.owes_continue) co_return;
  request.owes_continue = false;
  // RFC 9110 section 10.1.1: not needed for one who has begun to send anyway.
  if (session.in().empty() && request.head.minor >= 1) co_await session.link().write(Gather(http::kContinue));
}

Task<Expected<std::string, BodyTrouble>> read_whole_body(Session& session, Request& request,
                                                         BodyBudget::Share& share) {
  using Granted = BodyBudget::Share::Granted;
  const std::uint64_t most = request.route->route.max_request_body;
  const auto idle = request.snapshot->config().limits.body_idle_timeout;
  request.body = http::BodyDecoder(request.head, http::Trailers::refuse);
  std::string body;
  if (request.head.framing == http::BodyFraming::sized) {
    if (request.head.content_length > most) co_return unexpected(BodyTrouble::too_large);
    body.reserve(std::min(request.head.content_length, kReservedAtMost));
  }
  while (!request.body.done()) {
    const auto consumed = request.body.decode(session.in().data(), body);
    if (!consumed) co_return unexpected(BodyTrouble::malformed);
    session.in().consume(*consumed);
    if (body.size() > most) co_return unexpected(BodyTrouble::too_large);
    if (share.grow_to(body.size()) == Granted::no) co_return unexpected(BodyTrouble::over_budget);
    if (request.body.done()) break;
    co_await say_continue(session, request);
    session.link().due_in(idle);
    const Link::Got got = co_await session.link().read(session.in(), ReadBuffer::kComfortable);
    if (got != Link::Got::data) co_return unexpected(BodyTrouble::gone);
  }
  session.link().due_never();
  co_return body;
}

}  // namespace stet::gateway
