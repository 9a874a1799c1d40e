#include "gateway/listener.hpp"

#include <sys/socket.h>

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/post.hpp>

#include "gateway/session.hpp"
#include "gateway/spawn.hpp"
#include "gateway/turn_away.hpp"

namespace stet::gateway {
namespace {

// Full, as far as the system takes it: a burst of callers waits here while we are busy.
constexpr int kBacklog = 4096;
// Out of descriptors: some will come free; until then callers wait in the backlog.
constexpr std::chrono::milliseconds kNoRoomPause{50};
// Beyond the limit, callers are told so; beyond this many at once they are only cut off.
constexpr std::size_t kToldAtMost = 256;

std::string text(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

}  // namespace

Listener::Listener(std::vector<std::unique_ptr<Station>>& stations)
    : stations_(stations), acceptor_(stations.front()->worker.executor()) {}

Expected<std::unique_ptr<Listener>, std::string> Listener::open(const config::Endpoint& at,
                                                                std::vector<std::unique_ptr<Station>>& stations) {
  const std::string where = at.host + ":" + std::to_string(at.port);
  error_code error;
  asio::ip::basic_resolver<tcp, Executor> resolver(stations.front()->worker.executor());
  const auto found = resolver.resolve(at.host, std::to_string(at.port), error);
  if (error || found.empty()) return unexpected("listen: " + where + ": " + error.message());
  const tcp::endpoint endpoint = found.begin()->endpoint();
  std::unique_ptr<Listener> listener(new Listener(stations));
  auto& acceptor = listener->acceptor_;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (!error) acceptor.non_blocking(true, error);
  if (error) return unexpected("listen: " + where + ": " + error.message());
  return listener;
}

std::string Listener::address() const {
  error_code closed;
  return text(acceptor_.local_endpoint(closed));
}

void Listener::start() { spawn(stations_.front()->worker, accept()); }

void Listener::close() {
  asio::post(acceptor_.get_executor(), [this] {
    error_code ignored;
    acceptor_.close(ignored);
  });
}

Task<void> Listener::accept() {
  for (;;) {
    const auto [error] = co_await acceptor_.async_wait(decltype(acceptor_)::wait_read, as_result);
    if (error || !acceptor_.is_open()) co_return;
    Accepted accepted = Accepted::one;
    while (accepted == Accepted::one) accepted = accept_one();
    if (accepted == Accepted::no_room) {
      Timer pause(acceptor_.get_executor(), kNoRoomPause);
      co_await pause.async_wait(as_result);
    }
  }
}

// By hand, because the socket belongs to another worker's io_context, which only its own thread may touch.
Listener::Accepted Listener::accept_one() {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  const int fd = ::accept4(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size,
                           SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) return Accepted::no_room;
    return errno == EAGAIN || errno == EWOULDBLOCK ? Accepted::none_waiting : Accepted::one;
  }
  Station& station = *stations_[next_++ % stations_.size()];
  Shared& shared = station.shared;
  shared.metrics.process.connections_accepted.add();
  const auto protocol = peer.ss_family == AF_INET6 ? tcp::v6() : tcp::v4();
  station.worker.post([&station, fd, protocol] {
    Socket socket(station.worker.executor());
    error_code error;
    socket.assign(protocol, fd, error);
    if (error) {
      ::close(fd);
      return;
    }
    const std::size_t open = station.shared.connections.load(std::memory_order_relaxed);
    const std::size_t most = station.snapshot->config().limits.connections;
    if (open < most) {
      spawn(station.worker, std::make_shared<Session>(station, std::move(socket))->run());
    } else if (station.shared.turned_away.load(std::memory_order_relaxed) < kToldAtMost) {
      spawn(station.worker, turn_away(station, std::move(socket)));
    }
  });
  return Accepted::one;
}

}  // namespace stet::gateway
