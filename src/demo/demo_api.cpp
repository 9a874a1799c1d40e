#include "demo/demo_api.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <system_error>
#include <thread>

#include "demo/api.hpp"
#include "demo/connection.hpp"

namespace stet::demo {
namespace {

constexpr int kUsage = 2;
constexpr int kEnvironment = 3;
// A thread each: enough for every benchmark's connections, and a bound on memory.
constexpr std::size_t kMostConnections = 1024;
constexpr time_t kIdleSeconds = 60;

struct Address {
  std::string host;
  std::string port;
};

std::optional<Address> read_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto host = text.substr(0, colon);
  const auto port = text.substr(colon + 1);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (host.empty() || error != std::errc{} || end != port.data() + port.size()) return std::nullopt;
  return Address{std::string(host), std::string(port)};
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// -1 with errno of the last try.
int listen_on(const addrinfo* candidates) {
  for (const auto* at = candidates; at != nullptr; at = at->ai_next) {
    const int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (fd < 0) continue;
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0) return fd;
    const int why = errno;
    close(fd);
    errno = why;
  }
  return -1;
}

int listen_on(const Address& address) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found) != 0) {
    errno = EADDRNOTAVAIL;
    return -1;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owned(found, &freeaddrinfo);
  return listen_on(found);
}

std::string address_of(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size);
  char host[NI_MAXHOST];
  char port[NI_MAXSERV];
  if (getnameinfo(reinterpret_cast<sockaddr*>(&storage), size, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "?";
  return storage.ss_family == AF_INET6 ? std::string("[") + host + "]:" + port
                                       : std::string(host) + ":" + port;
}

// The connections that are being served, a detached thread each. A thread's last touch of this object is
// leaving it.
class Connections {
 public:
  explicit Connections(Api& api) : api_(api) {}

  void serve(int fd) {
    {
      const std::lock_guard lock(mutex_);
      open_.insert(fd);
    }
    try {
      std::thread([this, fd] {
        serve_connection(fd, api_);
        leave(fd);
      }).detach();
    } catch (const std::system_error&) {
      leave(fd);
    }
  }
  bool full() {
    const std::lock_guard lock(mutex_);
    return open_.size() >= kMostConnections;
  }
  void end_all() {
    std::unique_lock lock(mutex_);
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
    left_.wait(lock, [this] { return open_.empty(); });
  }

 private:
  void leave(int fd) {
    const std::lock_guard lock(mutex_);
    open_.erase(fd);
    close(fd);
    left_.notify_all();
  }
  Api& api_;
  std::mutex mutex_;
  std::condition_variable left_;
  std::set<int> open_;
};

void accept_one(int listener, Connections& connections) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return;
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval idle{kIdleSeconds, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof idle);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &idle, sizeof idle);
  connections.serve(fd);
}

void serve_until_signalled(int listener, int signals, Connections& connections) {
  while (true) {
    // With every place taken, newcomers wait in the kernel's queue.
    const bool full = connections.full();
    pollfd watched[] = {{signals, POLLIN, 0}, {listener, POLLIN, 0}};
    if (poll(watched, full ? 1 : 2, full ? 20 : -1) < 0 && errno != EINTR) return;
    if (watched[0].revents != 0) return;
    if (!full && watched[1].revents != 0) accept_one(listener, connections);
  }
}

}  // namespace

int run(const DemoOptions& options) {
  const auto address = read_address(options.listen);
  if (!address) {
    std::fprintf(stderr, "stet demo-api: --listen wants host:port, such as 127.0.0.1:3000, not %s\n",
                 options.listen.c_str());
    return kUsage;
  }
  // Blocked before the first thread starts, so that none of them takes the signal.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const Socket signals(signalfd(-1, &ends, SFD_CLOEXEC));

  const Socket listener(listen_on(*address));
  if (listener.fd() < 0) {
    std::fprintf(stderr, "stet demo-api: cannot listen on %s: %s\n", options.listen.c_str(),
                 std::strerror(errno));
    return kEnvironment;
  }
  try {
    Ledger ledger(options.db);
    Stopping stopping;
    Api api(ledger, stopping);
    Connections connections(api);
    std::printf("demo-api listening on http://%s (ledger %s)\n", address_of(listener.fd()).c_str(),
                options.db.c_str());
    std::fflush(stdout);
    serve_until_signalled(listener.fd(), signals.fd(), connections);
    stopping.stop();
    connections.end_all();
  } catch (const StoreError& error) {
    std::fprintf(stderr, "stet demo-api: %s\n", error.what());
    return kEnvironment;
  }
  return 0;
}

}  // namespace stet::demo
