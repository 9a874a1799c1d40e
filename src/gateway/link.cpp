#include "gateway/link.hpp"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <boost/asio/ssl/error.hpp>
#include <tuple>

#include "gateway/tls.hpp"

namespace stet::gateway {
namespace {

// How long a caller may still send after our last word before the connection is dropped on it.
constexpr std::chrono::seconds kLingerTime{2};
constexpr std::size_t kLingerBytes = 1 << 20;

}  // namespace

void Gather::sent(std::size_t n) {
  while (n > 0) {
    asio::const_buffer& piece = pieces_[first_];
    if (n < piece.size()) {
      piece += n;
      return;
    }
    n -= piece.size();
    ++first_;
  }
}

Link::Link(Worker& worker, Socket socket) : worker_(worker), socket_(std::move(socket)) {
  worker_.connections().add(*this);
}

Link::~Link() { worker_.connections().remove(*this); }

void Link::set_tls(std::unique_ptr<TlsLayer> tls) { tls_ = std::move(tls); }

void Link::prepare() {
  error_code ignored;
  socket_.set_option(tcp::no_delay(true), ignored);
  // A tunnel or an event stream may be silent for hours; one whose peer has lost power is found by the kernel.
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  socket_.non_blocking(true, ignored);
}

Task<Link::Got> Link::read(ReadBuffer& buffer, std::size_t room) {
  const std::span<char> free = buffer.room(room);
  const asio::mutable_buffer target(free.data(), free.size());
  const auto [error, n] = tls_ ? co_await tls_->stream.async_read_some(target, as_result)
                               : co_await socket_.async_read_some(target, as_result);
  if (!error) {
    buffer.filled(n);
    co_return Got::data;
  }
  co_return error == asio::error::eof ? Got::end : Got::lost;
}

Task<Link::Sent> Link::write(Gather pieces) {
  if (tls_) co_return co_await write_tls(pieces);
  Sent sent = Sent::nothing;
  while (!pieces.empty()) {
    error_code error;
    const std::size_t n = socket_.write_some(pieces, error);
    if (!error) {
      pieces.sent(n);
      sent = Sent::some;
      continue;
    }
    if (error != asio::error::would_block) co_return sent;
    if (write_patience_.count() > 0) due_in(write_patience_);
    const auto [broken] = co_await socket_.async_wait(Socket::wait_write, as_result);
    if (broken) co_return sent;
    if (write_patience_.count() > 0) due_never();
  }
  co_return Sent::all;
}

Task<Link::Sent> Link::write_tls(Gather pieces) {
  // Whether an encrypted byte has left cannot be told here: from the first attempt on, `some` is the truth to act on.
  while (!pieces.empty()) {
    if (write_patience_.count() > 0) due_in(write_patience_);
    const auto [error, n] = co_await tls_->stream.async_write_some(*pieces.begin(), as_result);
    if (error) co_return Sent::some;
    if (write_patience_.count() > 0) due_never();
    pieces.sent(n);
  }
  co_return Sent::all;
}

Task<void> Link::finish_writing() {
  if (tls_) {
    due_in(kLingerTime);
    co_await tls_->stream.async_shutdown(as_result);
  }
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

Task<void> Link::linger() {
  co_await finish_writing();
  due_in(kLingerTime);
  std::array<char, 4096> dropped;
  for (std::size_t total = 0; total < kLingerBytes;) {
    const auto [error, n] = co_await socket_.async_read_some(asio::buffer(dropped), as_result);
    if (error) break;
    total += n;
  }
  abort();
}

Link::Idle Link::look() const {
  char byte;
  const ssize_t n = ::recv(const_cast<Socket&>(socket_).native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n > 0) return Idle::has_data;
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Idle::quiet;
  pollfd state{const_cast<Socket&>(socket_).native_handle(), 0, 0};
  const bool broken = n < 0 || ::poll(&state, 1, 0) != 0;  // POLLERR or POLLHUP
  return broken ? Idle::gone : Idle::finished;
}

void Link::ask_whether_it_reads() {
  const auto set = [fd = socket_.native_handle()](int option, int value) {
    ::setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value);
  };
  // A host answers for a closed connection, too, as long as it remembers it (Linux: a minute), and then with a reset.
  set(TCP_KEEPIDLE, 10);
  set(TCP_KEEPINTVL, 10);
  set(TCP_KEEPCNT, 3);
}

void Link::abort() {
  error_code ignored;
  socket_.close(ignored);
  due_never();
}

void Link::reset() {
  error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  abort();
}

void Link::cancel() {
  error_code ignored;
  socket_.cancel(ignored);
}

void Link::on_due(MonoTime) {
  timed_out_ = true;
  abort();
}

}  // namespace stet::gateway
