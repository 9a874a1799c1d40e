#include "admin/admin_connection.hpp"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "http/head_parser.hpp"
#include "http/serialize.hpp"

namespace stet::admin {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

// Operators, a scraper and health checks: what comes from them is small and comes at once.
constexpr std::chrono::milliseconds kIdle = 60s;
constexpr std::chrono::milliseconds kHead = 10s;
constexpr std::chrono::milliseconds kBody = 30s;
constexpr std::chrono::milliseconds kWrite = 30s;
constexpr std::chrono::milliseconds kLinger = 1s;
constexpr std::size_t kPiece = 16 << 10;

WallTime now() {
  return std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
}

}  // namespace

// An answer that is on its way from the store.
struct AdminConnection::Pending {
  explicit Pending(const asio::any_io_executor& executor) : timer(executor) {}
  asio::steady_timer timer;
  std::optional<Answer> answer;
};

AdminConnection::AdminConnection(asio::ip::tcp::socket socket, AdminApi& api)
    : socket_(std::move(socket)), deadline_(socket_.get_executor()), api_(api) {}

void AdminConnection::close() {
  error_code ignored;
  socket_.close(ignored);
  deadline_.cancel();
  if (pending_) pending_->timer.cancel();
}

void AdminConnection::close_after(std::chrono::milliseconds time) {
  deadline_.expires_after(time);
  deadline_.async_wait([weak = weak_from_this()](error_code error) {
    const auto self = weak.lock();
    // A wait that had ended before the deadline was moved comes here without an error, too.
    if (error || !self || self->deadline_.expiry() > std::chrono::steady_clock::now()) return;
    self->close();
  });
}

AdminConnection::Task<void> AdminConnection::run() {
  error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  for (bool open = true; open;) {
    Incoming incoming = co_await read_request();
    if (incoming.request) {
      const AdminRequest request = std::move(*incoming.request);
      Answer answer = co_await ask(request);
      open = co_await send(&request.head, std::move(answer), request.head.persistence);
    } else if (incoming.refusal) {
      if (co_await send(nullptr, std::move(*incoming.refusal), http::Persistence::close)) co_await linger();
      open = false;
    } else {
      open = false;
    }
  }
  close();
}

AdminConnection::Task<AdminConnection::Incoming> AdminConnection::read_request() {
  const http::HeadLimits limits;
  http::HeadFinder finder(http::MessageKind::request, limits);
  bool begun = !buffer_.empty();
  close_after(begun ? kHead : kIdle);
  std::size_t size = 0;
  for (;;) {
    const auto found = finder.find(buffer_);
    if (!found) co_return Incoming{std::nullopt, problem_answer(400, found.error().detail)};
    size = *found;
    if (size > 0) break;
    if (!co_await read_more()) co_return Incoming{};
    if (!begun) close_after(kHead);
    begun = true;
  }
  auto head = http::parse_request_head(std::string_view(buffer_).substr(0, size), limits);
  if (!head) co_return Incoming{std::nullopt, problem_answer(400, head.error().detail)};
  buffer_.erase(0, size);

  AdminRequest request{std::move(*head), {}};
  auto refusal = co_await read_body(request);
  if (refusal) co_return Incoming{std::nullopt, std::move(refusal)};
  if (!socket_.is_open()) co_return Incoming{};
  co_return Incoming{std::move(request), std::nullopt};
}

AdminConnection::Task<std::optional<Answer>> AdminConnection::read_body(AdminRequest& request) {
  const std::uint64_t limit = api_.body_limit();
  const auto too_large = [&] {
    return problem_answer(413, "The body is larger than any answer that a route keeps.");
  };
  if (request.head.framing == http::BodyFraming::sized && request.head.content_length > limit)
    co_return too_large();
  close_after(kBody);
  http::BodyDecoder decoder(request.head, http::Trailers::refuse);
  bool asked_for = !request.head.expects_continue;
  while (!decoder.done()) {
    const auto consumed = decoder.decode(buffer_, request.body);
    if (!consumed) co_return problem_answer(400, consumed.error().detail);
    buffer_.erase(0, *consumed);
    if (request.body.size() > limit) co_return too_large();
    if (decoder.done()) break;
    if (!asked_for) {
      asked_for = true;
      const auto [error, sent] =
          co_await asio::async_write(socket_, asio::buffer(http::kContinue), as_result);
      if (error) co_return std::nullopt;
    }
    if (!co_await read_more()) co_return std::nullopt;
  }
  co_return std::nullopt;
}

// False: the end of the connection, which is then closed.
AdminConnection::Task<bool> AdminConnection::read_more() {
  const std::size_t held = buffer_.size();
  buffer_.resize(held + kPiece);
  const auto [error, got] =
      co_await socket_.async_read_some(asio::buffer(buffer_.data() + held, kPiece), as_result);
  buffer_.resize(held + (error ? 0 : got));
  if (error) close();
  co_return !error;
}

AdminConnection::Task<Answer> AdminConnection::ask(const AdminRequest& request) {
  deadline_.cancel();
  const auto pending = std::make_shared<Pending>(socket_.get_executor());
  pending_ = pending;
  pending->timer.expires_after(AdminApi::patience(request));
  api_.answer(request, [weak = std::weak_ptr(pending)](Answer answer) {
    const auto waiting = weak.lock();
    if (!waiting) return;
    waiting->answer = std::move(answer);
    waiting->timer.cancel();
  });
  if (!pending->answer) co_await pending->timer.async_wait(as_result);
  pending_.reset();
  co_return pending->answer ? std::move(*pending->answer) : api_.late(request);
}

// `head` is nullptr when what came was no request. False: the connection has ended or is to end.
AdminConnection::Task<bool> AdminConnection::send(const http::RequestHead* head, Answer answer,
                                                  http::Persistence persistence) {
  http::Reply reply;
  reply.status = answer.status;
  reply.fields = answer.headers;
  reply.body = http::OutgoingBody::sized(answer.body.size());
  reply.persistence = persistence;
  reply.client_minor = head == nullptr ? 1 : head->minor;
  reply.now = now();
  std::string out;
  http::append_response_head(out, reply);
  if (head == nullptr || head->method != "HEAD") out += answer.body;
  close_after(kWrite);
  const auto [error, sent] = co_await asio::async_write(socket_, asio::buffer(out), as_result);
  if (error) co_return false;
  co_return head == nullptr || persistence == http::Persistence::keep;
}

// So that a client which still sends can read why it was refused (RFC 9112 section 9.6).
AdminConnection::Task<void> AdminConnection::linger() {
  error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
  close_after(kLinger);
  std::array<char, kPiece> waste;
  while (!error) {
    const auto [failed, got] = co_await socket_.async_read_some(asio::buffer(waste), as_result);
    error = failed;
  }
}

}  // namespace stet::admin
