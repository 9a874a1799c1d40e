#include "gateway/passthrough.hpp"

#include "gateway/body_pump.hpp"
#include "gateway/cors.hpp"
#include "gateway/forwarding.hpp"
#include "gateway/relay.hpp"
#include "gateway/request_body.hpp"
#include "gateway/shown_to_http.hpp"
#include "gateway/spawn.hpp"
#include "gateway/tunnel.hpp"
#include "http/response_reader.hpp"
#include "http/serialize.hpp"

namespace stet::gateway {
namespace {

using Stage = http::ResponseReader::Stage;

WallTime wall_now() { return std::chrono::floor<milliseconds>(std::chrono::system_clock::now()); }

// One request on its way. Lives in the coroutine of pass_through().
class Passage {
 public:
  Passage(Session& session, Request& request, PassThrough what)
      : session_(session),
        station_(session.station()),
        request_(request),
        what_(std::move(what)),
        upgrading_(!request.head.upgrade.empty() && request.head.method == "GET" && request.body.done()
                       ? http::Upgrading::pass
                       : http::Upgrading::strip) {}

  Task<After> run();

 private:
  // Nothing: the head (and a body at hand) has left. Otherwise why not one byte did.
  Task<std::optional<std::string>> send();
  Task<Link::Sent> send_on(UpstreamLinkPtr);
  Task<After> receive();
  Task<After> answer(http::ResponseReader&);
  Task<After> broken(std::string_view why);
  Task<bool> relay_interim(const http::ResponseHead&);
  std::string_view body_at_hand();
  const config::Route& route_of_page() const;
  http::OutgoingBody onward_body() const;

  Session& session_;
  Station& station_;
  Request& request_;
  PassThrough what_;
  http::Upgrading upgrading_;
  const config::UpstreamUrl* url_ = nullptr;
  UpstreamLinkPtr link_;
  std::optional<BodyPump> pump_;
  MonoTime sent_at_{};
  enum class Request_ : std::uint8_t { whole, in_parts } sent_ = Request_::whole;
};

Task<After> Passage::run() {
  if (const auto why = co_await send()) {
    request_.why = *why;
    Shown shown = problem(Problem::upstream_unreachable, Outcome::not_executed,
                          "Nothing was sent to the upstream: " + *why + ".");
    shown.new_key_safe = true;
    co_return co_await session_.respond_problem(request_, shown);
  }
  session_.watch_caller([link = link_.get()] { link->link.abort(); }, Session::Gone::when_it_no_longer_reads);
  if (!request_.body.done() && !what_.body) {
    pump_.emplace(session_, request_, *link_, onward_body().framing);
    co_await say_continue(session_, request_);
    spawn(station_.worker, pump_->run());
  }
  const After after = co_await receive();
  session_.watch_caller(nullptr);
  request_.upstream_time = std::chrono::steady_clock::now() - sent_at_;
  if (pump_) {
    co_await pump_->stop();
    if (pump_->state() != BodyPump::State::sent) co_return After::close;
  }
  co_return after;
}

http::OutgoingBody Passage::onward_body() const {
  if (what_.body && request_.head.framing != http::BodyFraming::none) {
    return http::OutgoingBody::sized(what_.body->size());
  }
  return {request_.head.framing, request_.head.content_length};
}

// Of the request that a preflight announces.
const config::Route& Passage::route_of_page() const {
  const auto method = preflight_method(request_.head);
  return method ? request_.snapshot->find(*method, request_.head.path()).route : request_.route->route;
}

// A body that has come whole with its head goes out with it.
std::string_view Passage::body_at_hand() {
  if (what_.body) return *what_.body;
  const bool here = request_.head.framing == http::BodyFraming::sized &&
                    request_.head.content_length <= session_.in().size();
  return here ? session_.in().data().substr(0, request_.head.content_length) : std::string_view();
}

Task<std::optional<std::string>> Passage::send() {
  url_ = &station_.next_upstream(*request_.snapshot);
  Link::Sent sent = Link::Sent::nothing;
  if (auto idle = station_.upstreams.take_idle(*url_, UpstreamPool::Use::unkeyed)) {
    sent = co_await send_on(std::move(idle));
  }
  if (sent == Link::Sent::nothing) {
    auto fresh = co_await station_.upstreams.connect(*url_, UpstreamPool::Use::unkeyed, request_.snapshot->tls());
    if (!fresh) co_return std::move(fresh.error());
    sent = co_await send_on(std::move(*fresh));
    if (sent == Link::Sent::nothing) co_return "the connection broke before the first byte";
  }
  const std::string_view here = what_.body ? std::string_view() : body_at_hand();
  if (!here.empty()) {
    const auto taken = request_.body.next(here);
    session_.in().consume(taken ? taken->consumed : 0);
  }
  co_return std::nullopt;
}

Task<Link::Sent> Passage::send_on(UpstreamLinkPtr link) {
  link_ = std::move(link);
  std::string head;
  head.reserve(1024);
  append_onward_head(head, request_.head,
                     {.config = request_.snapshot->config(),
                      .upstream = *url_,
                      .client_address = session_.client_address(),
                      .body = onward_body(),
                      .upgrading = upgrading_});
  sent_at_ = std::chrono::steady_clock::now();
  const Link::Sent sent = co_await link_->link.write(Gather(head, body_at_hand()));
  if (sent == Link::Sent::some) sent_ = Request_::in_parts;
  co_return sent;
}

Task<After> Passage::receive() {
  http::ResponseReader reader(
      request_.head.method, http::HeadLimits{},
      upgrading_ == http::Upgrading::pass ? http::Switching::allow : http::Switching::refuse);
  for (;;) {
    const auto progress = reader.read(link_->in.data());
    if (!progress) co_return co_await broken(progress.error().detail);
    link_->in.consume(progress->consumed);
    if (progress->stage == Stage::interim && !co_await relay_interim(reader.interim())) co_return After::close;
    if (progress->stage == Stage::switched) {
      session_.watch_caller(nullptr);
      request_.status = 101;
      co_await tunnel(session_, request_, std::move(link_), reader.head());
      co_return After::close;
    }
    if (progress->stage == Stage::head) co_return co_await answer(reader);
    if (progress->stage != Stage::more) continue;
    const Link::Got got = co_await link_->link.read(link_->in, 1024);
    if (got == Link::Got::lost) co_return co_await broken("the connection broke before the answer's head was whole");
    if (got == Link::Got::end) {
      const auto ended = reader.end_of_stream();
      co_return co_await broken(ended ? "the upstream closed the connection" : ended.error().detail);
    }
  }
}

Task<After> Passage::answer(http::ResponseReader& reader) {
  const http::ResponseHead& head = reader.head();
  request_.status = head.status;
  request_.upstream_status = head.status;
  Headers lines = http::end_to_end(head.fields);
  if (request_.head.fields.first("Origin")) {
    const config::Config& config = request_.snapshot->config();
    const config::Route& route = route_of_page();
    if (head.status >= 300) {
      if (auto preflight = own_preflight(config, request_.head, route)) {
        co_return co_await session_.respond(request_, std::move(*preflight));
      }
    }
    extend_cors(lines, config, request_.head, route);
  }

  http::OutgoingBody body = outgoing_body(head.framing, head.content_length, request_.head.minor);
  const auto length = head.fields.first("Content-Length");
  http::Reply reply;
  reply.status = head.status;
  reply.reason = head.reason;
  reply.fields = lines;
  reply.more = what_.more;
  reply.body = body;
  // RFC 9110 section 9.3.2: HEAD tells the length that GET would have.
  if (request_.head.method == "HEAD") {
    reply.body = length ? http::OutgoingBody::sized(head.content_length) : http::OutgoingBody::until_close();
  }
  const bool request_ends = request_.body.done() || pump_.has_value();
  reply.persistence = body.framing == http::BodyFraming::until_close || !request_ends
                          ? http::Persistence::close
                          : session_.persistence(request_);
  reply.client_minor = request_.head.minor;
  reply.now = wall_now();
  std::string pending;
  pending.reserve(512);
  http::append_response_head(pending, reply);
  if (co_await relay_body(session_, *link_, reader, body, std::move(pending)) == Relayed::broken) {
    co_return After::close;
  }
  const bool whole = sent_ == Request_::whole && (!pump_ || pump_->state() == BodyPump::State::sent);
  if (whole && head.persistence == http::Persistence::keep && head.framing != http::BodyFraming::until_close) {
    station_.upstreams.give_back(*url_, std::move(link_), head.fields.first("Keep-Alive"));
  }
  co_return reply.persistence == http::Persistence::keep ? After::keep : After::close;
}

// No head of an answer came, and one byte at least had left.
Task<After> Passage::broken(std::string_view why) {
  request_.why = why;
  if (pump_) {
    const BodyPump::State state = pump_->state();
    co_await pump_->stop();
    if (state == BodyPump::State::caller_gone) co_return After::close;
    if (state == BodyPump::State::malformed) {
      co_return co_await session_.respond_problem(
          request_, problem(Problem::bad_request, Outcome::unknown, "The framing of the body is broken."));
    }
  }
  Shown shown = problem(Problem::outcome_unknown, Outcome::unknown,
                        "The request reached the upstream, and no whole answer came back: " + std::string(why) + ".");
  const std::string& method = request_.head.method;
  shown.retryable = method == "GET" || method == "HEAD" || method == "OPTIONS";
  co_return co_await session_.respond_problem(request_, shown);
}

Task<bool> Passage::relay_interim(const http::ResponseHead& interim) {
  // We asked for no 100: Expect is answered by the gateway. HTTP/1.0 knows none of them (RFC 9110 section 15.2).
  if (interim.status == 100 || request_.head.minor == 0) co_return true;
  std::string head = "HTTP/1.1 " + std::to_string(interim.status) + " " + interim.reason + "\r\n";
  for (const Header& line : http::end_to_end(interim.fields)) {
    head.append(line.name).append(": ").append(line.value).append("\r\n");
  }
  head += "\r\n";
  co_return co_await session_.link().write(Gather(head)) == Link::Sent::all;
}

}  // namespace

Task<After> pass_through(Session& session, Request& request, PassThrough what) {
  Passage passage(session, request, std::move(what));
  co_return co_await passage.run();
}

}  // namespace stet::gateway
