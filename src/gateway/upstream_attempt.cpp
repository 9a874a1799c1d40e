#include "gateway/upstream_attempt.hpp"

#include "gateway/answer_headers.hpp"

namespace stet::gateway {
namespace {

using Stage = http::ResponseReader::Stage;

upstream::Answered::Says says(const http::Fields& fields) {
  return fields.first("Stet-Not-Executed") == "1" ? upstream::Answered::Says::not_executed
                                                  : upstream::Answered::Says::nothing;
}

}  // namespace

UpstreamAttempt::UpstreamAttempt(UpstreamPool& pool, Order order) : pool_(pool), order_(std::move(order)) {}

Task<UpstreamOutcome> UpstreamAttempt::run() {
  const auto self = shared_from_this();
  const auto sent = co_await send();
  if (!sent) co_return upstream::NotSent{sent.error()};
  UpstreamOutcome outcome = co_await receive();
  ended_at_ = std::chrono::steady_clock::now();
  link_.reset();
  co_return outcome;
}

void UpstreamAttempt::abort() {
  wanted_ = Wanted::no;
  if (link_) link_->link.abort();
}

std::optional<std::chrono::nanoseconds> UpstreamAttempt::duration() const {
  if (ended_at_ <= sent_at_) return std::nullopt;
  return ended_at_ - sent_at_;
}

Task<Expected<void, std::string>> UpstreamAttempt::send() {
  if (!may_send()) co_return unexpected(std::string("the lease was over before the first byte"));
  Link::Sent sent = Link::Sent::nothing;
  // An idle connection may turn out dead at the first byte. Nothing has left then, so a fresh one is no second send.
  if (auto idle = pool_.take_idle(order_.upstream, UpstreamPool::Use::keyed)) {
    sent = co_await send_on(std::move(idle));
  }
  if (sent == Link::Sent::nothing) {
    auto fresh = co_await pool_.connect(order_.upstream, UpstreamPool::Use::keyed, order_.tls);
    if (!fresh) co_return unexpected(std::move(fresh.error()));
    if (!may_send()) co_return unexpected(std::string("connecting took longer than the lease"));
    sent = co_await send_on(std::move(*fresh));
    if (sent == Link::Sent::nothing) co_return unexpected(std::string("the connection broke before the first byte"));
  }
  // What was sent in part may still be answered: an upstream that refuses a body says so before it has read it.
  request_ = sent == Link::Sent::all ? Request::whole : Request::broken_off;
  co_return Expected<void, std::string>{};
}

// Connecting takes time, and a process may be stopped and go on: whoever owns the operation now, it may not be us.
bool UpstreamAttempt::may_send() const {
  return wanted_ == Wanted::yes && std::chrono::steady_clock::now() < order_.send_before;
}

Task<Link::Sent> UpstreamAttempt::send_on(UpstreamLinkPtr link) {
  link_ = std::move(link);
  sent_at_ = std::chrono::steady_clock::now();
  co_return co_await link_->link.write(Gather(order_.head, order_.body));
}

Task<UpstreamOutcome> UpstreamAttempt::receive() {
  http::ResponseReader reader(order_.method, http::HeadLimits{}, http::Switching::refuse);
  std::string body;
  ReadBuffer& in = link_->in;
  const std::uint64_t most = order_.route.max_response_body;
  for (;;) {
    const auto progress = reader.read(in.data());
    if (!progress) co_return upstream::Lost{std::string(progress.error().detail)};
    if (progress->stage == Stage::head) {
      status_ = reader.head().status;
      if (reader.head().framing == http::BodyFraming::sized) {
        if (reader.head().content_length > most) {
          in.consume(progress->consumed);
          co_return too_large(reader, {});
        }
        body.reserve(reader.head().content_length);
      }
    }
    if (progress->stage == Stage::body) body.append(progress->data);
    in.consume(progress->consumed);
    if (body.size() > most) co_return too_large(reader, std::move(body));
    if (progress->stage == Stage::done) co_return answered(reader, std::move(body));
    if (progress->stage != Stage::more) continue;

    const Link::Got got = co_await link_->link.read(in, reader.has_head() ? ReadBuffer::kComfortable : 1024);
    if (got == Link::Got::lost) co_return upstream::Lost{"the connection broke before the answer was whole"};
    if (got == Link::Got::end) {
      const auto ended = reader.end_of_stream();
      if (!ended) co_return upstream::Lost{std::string(ended.error().detail)};
      request_ = Request::broken_off;  // nothing more can be sent there
      co_return answered(reader, std::move(body));
    }
  }
}

// What is stored of the answer's lines; kept aside if its own caller gets more.
Headers UpstreamAttempt::take_lines(const http::ResponseHead& head) {
  Headers lines = gateway::own_caller_headers(head.fields);
  if (all_stored(lines, order_.route)) return lines;
  own_caller_headers_ = std::move(lines);
  return stored_headers(own_caller_headers_, order_.route);
}

UpstreamOutcome UpstreamAttempt::answered(http::ResponseReader& reader, std::string body) {
  const http::ResponseHead& head = reader.head();
  upstream::Answered outcome{Answer{head.status, take_lines(head), std::move(body), Kept::whole}, says(head.fields)};
  if (request_ == Request::whole && head.persistence == http::Persistence::keep) {
    pool_.give_back(order_.upstream, std::move(link_), head.fields.first("Keep-Alive"));
  }
  return outcome;
}

UpstreamOutcome UpstreamAttempt::too_large(http::ResponseReader& reader, std::string begun) {
  const http::ResponseHead& head = reader.head();
  upstream::TooLarge outcome{Answer{head.status, take_lines(head), {}, Kept::head_only}, says(head.fields)};
  const auto framing = head.framing;
  const auto length = head.content_length;
  rest_.emplace(Rest{std::move(link_), std::move(reader), framing, length, std::move(begun)});
  return outcome;
}

}  // namespace stet::gateway
