#include "gateway/session.hpp"

#include "gateway/cors.hpp"
#include "gateway/keyed.hpp"
#include "gateway/own_pages.hpp"
#include "gateway/passthrough.hpp"
#include "gateway/shown_to_http.hpp"
#include "http/problem.hpp"
#include "http/serialize.hpp"

namespace stet::gateway {
namespace {

// How often a streaming connection is asked whether its caller is still there.
constexpr std::chrono::seconds kWatchEvery{1};

std::string address_of(const Socket& socket) {
  error_code gone;
  const auto peer = socket.remote_endpoint(gone);
  return gone ? std::string() : peer.address().to_string();
}

WallTime wall_now() { return std::chrono::floor<milliseconds>(std::chrono::system_clock::now()); }

}  // namespace

Session::Session(Station& station, Socket socket)
    : station_(station), link_(station.worker, std::move(socket)), client_address_(address_of(link_.socket())) {
  station_.worker.sessions().add(*this);
  station_.shared.connections.fetch_add(1, std::memory_order_relaxed);
  station_.shared.metrics.process.connections.add();
}

Session::~Session() {
  station_.worker.sessions().remove(*this);
  station_.shared.connections.fetch_sub(1, std::memory_order_relaxed);
  station_.shared.metrics.process.connections.sub();
}

Task<void> Session::run() {
  const auto self = shared_from_this();
  link_.prepare();
  for (;;) {
    auto head = co_await read_head();
    if (!head) break;
    const auto request = std::make_shared<Request>(station_.snapshot, std::move(*head));
    const After after = co_await serve(request);
    watch_caller(nullptr);
    write_log(station_.shared.log, *request);
    if (after == After::keep) continue;
    // An answer that came before the request was whole: the caller may still be sending (RFC 9112 section 9.6).
    if (request->body.done() && in_.empty()) {
      co_await link_.finish_writing();
    } else {
      co_await link_.linger();
    }
    break;
  }
  link_.abort();
}

Task<std::optional<http::RequestHead>> Session::read_head() {
  link_.set_write_patience(station_.snapshot->config().limits.body_idle_timeout);
  if (in_.empty()) {
    if (station_.shared.draining.load(std::memory_order_relaxed)) co_return std::nullopt;
    in_.shrink();
    phase_ = Phase::idle;
    link_.due_in(station_.snapshot->config().limits.keep_alive);
    if (co_await link_.read(in_, 1024) != Link::Got::data) co_return std::nullopt;
  }
  phase_ = Phase::receiving;
  const SnapshotPtr in_use = station_.snapshot;  // a reload lets go of it while we wait for the rest
  link_.due_in(in_use->config().limits.header_timeout);
  http::HeadFinder finder(http::MessageKind::request, in_use->request_limits());
  for (;;) {
    const auto size = finder.find(in_.data());
    if (!size) {
      co_await refuse(size.error());
      co_return std::nullopt;
    }
    if (*size > 0) {
      auto head = http::parse_request_head(in_.data().substr(0, *size), in_use->request_limits());
      if (!head) {
        co_await refuse(head.error());
        co_return std::nullopt;
      }
      in_.consume(*size);
      link_.due_never();
      phase_ = Phase::serving;
      co_return std::move(*head);
    }
    if (co_await link_.read(in_, 1024) != Link::Got::data) co_return std::nullopt;
  }
}

// The request has no route and no boundary that could be trusted: one answer, and the connection ends.
Task<void> Session::refuse(const http::WireError& error) {
  station_.shared.metrics.process.bad_requests.add();
  const Answer answer =
      http::problem_answer(problem(Problem::bad_request, Outcome::not_executed, std::string(error.detail)));
  http::Reply reply;
  reply.status = answer.status;
  reply.fields = answer.headers;
  reply.body = http::OutgoingBody::sized(answer.body.size());
  reply.persistence = http::Persistence::close;
  reply.now = wall_now();
  out_.clear();
  http::append_response_head(out_, reply);
  co_await link_.write(Gather(out_, answer.body));
  co_await link_.linger();
}

Task<After> Session::serve(std::shared_ptr<Request> request) {
  const http::RequestHead& head = request->head;
  request->owes_continue = head.expects_continue && !request->body.done();
  if (is_own_page(head)) co_return co_await serve_own_page(*this, std::move(request));
  request->route = &request->snapshot->find(head.method, head.path());
  if (request->route->route.key_mode(head.method) == config::KeyMode::off) {
    request->route->metrics.proxied.add();
    co_return co_await pass_through(*this, *request, {});
  }
  co_return co_await serve_keyed(*this, std::move(request));
}

http::Persistence Session::persistence(const Request& request) const {
  const bool keep = request.head.persistence == http::Persistence::keep && request.body.done() &&
                    !station_.shared.draining.load(std::memory_order_relaxed);
  return keep ? http::Persistence::keep : http::Persistence::close;
}

Task<After> Session::respond(Request& request, Response response) {
  http::Reply reply;
  reply.status = response.status;
  reply.fields = response.fields;
  reply.more = response.more;
  // RFC 9110 section 8.6: an answer without a body by its nature has no length of one either.
  const bool bodiless = response.status == 204 || response.status == 304;
  reply.body = bodiless ? http::OutgoingBody::none() : http::OutgoingBody::sized(response.body.size());
  reply.persistence = persistence(request);
  reply.client_minor = request.head.minor;
  reply.now = wall_now();
  out_.clear();
  http::append_response_head(out_, reply);
  const bool head_only = bodiless || request.head.method == "HEAD";
  const auto sent = co_await link_.write(Gather(out_, head_only ? std::string_view() : std::string_view(response.body)));
  if (sent != Link::Sent::all) {
    if (request.route != nullptr) request.route->metrics.callers_gone.add();
    co_return After::close;
  }
  request.status = response.status;
  co_return reply.persistence == http::Persistence::keep ? After::keep : After::close;
}

Task<After> Session::respond_problem(Request& request, const Shown& shown) {
  request.problem = shown.problem;
  request.outcome = shown.outcome;
  if (request.route != nullptr) request.route->metrics.refused(shown.problem);
  Response response;
  if (request.route != nullptr) {
    response = shown_to_http(shown, request.route->route, nullptr);
  } else {
    response = shown_to_http(shown, request.snapshot->config().defaults, nullptr);
  }
  add_cors(response, request.snapshot->config(), request.head);
  co_return co_await respond(request, std::move(response));
}

void Session::close_if_idle() {
  if (phase_ == Phase::idle) link_.abort();
}

void Session::watch_caller(std::function<void()> gone, Gone when) {
  caller_gone_ = std::move(gone);
  gone_ = when;
  due_ = caller_gone_ ? std::chrono::steady_clock::now() + kWatchEvery : kNever;
}

void Session::on_due(MonoTime now) {
  if (!caller_gone_) return;
  const Link::Idle seen = link_.look();
  const bool may_read = seen == Link::Idle::finished && gone_ == Gone::when_it_no_longer_reads;
  if (may_read) link_.ask_whether_it_reads();
  if (may_read || seen == Link::Idle::quiet || seen == Link::Idle::has_data) {
    due_ = now + kWatchEvery;
    return;
  }
  const auto self = shared_from_this();
  const auto gone = std::move(caller_gone_);
  caller_gone_ = nullptr;
  gone();
}

}  // namespace stet::gateway
