#include "probe/wire.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include "probe/interruption.hpp"

namespace stet::probe {
namespace {

int milliseconds_left(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

// True when the descriptor is ready (or in error, which the next call reports), false at the deadline and
// when the run is interrupted.
bool wait_for(int fd, short events, Deadline deadline) {
  while (true) {
    std::array<pollfd, 2> entries{pollfd{fd, events, 0}, pollfd{interruption_fd(), POLLIN, 0}};
    const int ready = ::poll(entries.data(), entries.size(), milliseconds_left(deadline));
    if (entries[1].revents != 0) return false;
    if (ready > 0) return true;
    if (ready == 0 && Clock::now() >= deadline) return false;
    if (ready < 0 && errno != EINTR) return true;
  }
}

tl::unexpected<Failure> fail(Trouble kind, std::string detail) {
  return tl::unexpected(Failure{kind, std::move(detail)});
}

std::string error_text(int number) {
  return std::generic_category().message(number);
}

std::string tls_error_text() {
  const unsigned long code = ERR_get_error();
  if (code == 0) return "the TLS connection broke";
  std::array<char, 256> text{};
  ERR_error_string_n(code, text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

}  // namespace

struct Wire::Impl {
  int fd = -1;
  SSL_CTX* context = nullptr;
  SSL* tls = nullptr;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (tls != nullptr) SSL_free(tls);
    if (context != nullptr) SSL_CTX_free(context);
    if (fd >= 0) ::close(fd);
  }

  // What to wait for after an SSL call that could not go on; nothing when it failed for good.
  short wanted(int result) const {
    switch (SSL_get_error(tls, result)) {
      case SSL_ERROR_WANT_READ:
        return POLLIN;
      case SSL_ERROR_WANT_WRITE:
        return POLLOUT;
      default:
        return 0;
    }
  }
};

Wire::Wire(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Wire::Wire(Wire&&) noexcept = default;
Wire& Wire::operator=(Wire&&) noexcept = default;
Wire::~Wire() = default;

Wire Wire::adopt(int fd) {
  auto impl = std::make_unique<Impl>();
  impl->fd = fd;
  return Wire(std::move(impl));
}

Expected<Wire, Failure> Wire::open_plain(const Endpoint& where, Deadline deadline) {
  const std::string name = where.host + ":" + std::to_string(where.port);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found);
      error != 0) {
    return fail(Trouble::unreachable, "no address for " + where.host + ": " + ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  std::string last = "no address";
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    Wire wire = adopt(::socket(entry->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int fd = wire.fd();
    if (fd < 0) return fail(Trouble::unreachable, "no socket: " + error_text(errno));
    if (::connect(fd, entry->ai_addr, entry->ai_addrlen) != 0 && errno != EINPROGRESS) {
      last = error_text(errno);
      continue;
    }
    if (!wait_for(fd, POLLOUT, deadline)) {
      return fail(Trouble::timed_out, "no connection to " + name + " in time");
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      last = error_text(error);
      continue;
    }
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return wire;
  }
  return fail(Trouble::unreachable, "cannot connect to " + name + ": " + last);
}

Expected<Wire, Failure> Wire::open(const Url& url, const TlsSettings& settings, Deadline deadline) {
  auto wire = open_plain({url.host, url.port}, deadline);
  if (!wire || url.scheme == Scheme::http) return wire;
  Impl& impl = *wire->impl_;
  impl.context = SSL_CTX_new(TLS_client_method());
  if (impl.context == nullptr) return fail(Trouble::tls, tls_error_text());
  if (settings.verify == TlsSettings::Verify::yes) {
    SSL_CTX_set_verify(impl.context, SSL_VERIFY_PEER, nullptr);
    const int loaded = settings.ca_file.empty()
                           ? SSL_CTX_set_default_verify_paths(impl.context)
                           : SSL_CTX_load_verify_locations(impl.context, settings.ca_file.c_str(), nullptr);
    if (loaded != 1) return fail(Trouble::tls, "cannot read the certificates: " + tls_error_text());
  }
  impl.tls = SSL_new(impl.context);
  if (impl.tls == nullptr) return fail(Trouble::tls, tls_error_text());
  // RFC 6066 section 3: a literal address is no server name; it is compared with the certificate's addresses.
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(impl.tls), url.host.c_str()) != 1) {
    SSL_set_tlsext_host_name(impl.tls, url.host.c_str());
    SSL_set1_host(impl.tls, url.host.c_str());
  }
  SSL_set_fd(impl.tls, impl.fd);
  while (true) {
    const int result = SSL_connect(impl.tls);
    if (result == 1) return wire;
    const short events = impl.wanted(result);
    if (events == 0) {
      const long verdict = SSL_get_verify_result(impl.tls);
      return fail(Trouble::tls,
                  verdict == X509_V_OK ? tls_error_text() : X509_verify_cert_error_string(verdict));
    }
    if (!wait_for(impl.fd, events, deadline)) return fail(Trouble::timed_out, "no TLS handshake in time");
  }
}

Expected<void, Failure> Wire::send(std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    short events = POLLOUT;
    if (impl_->tls != nullptr) {
      const int size = static_cast<int>(std::min<std::size_t>(bytes.size(), 1U << 20U));
      const int sent = SSL_write(impl_->tls, bytes.data(), size);
      if (sent > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
        continue;
      }
      events = impl_->wanted(sent);
      if (events == 0) return fail(Trouble::cut, tls_error_text());
    } else {
      const ssize_t sent = ::send(impl_->fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
        continue;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return fail(Trouble::cut, error_text(errno));
    }
    if (!wait_for(impl_->fd, events, deadline))
      return fail(Trouble::timed_out, "the request was not taken in time");
  }
  return {};
}

Expected<std::string, Failure> Wire::receive(Deadline deadline) {
  std::string buffer(16 * 1024, '\0');
  while (true) {
    short events = POLLIN;
    if (impl_->tls != nullptr) {
      const int got = SSL_read(impl_->tls, buffer.data(), static_cast<int>(buffer.size()));
      if (got > 0) {
        buffer.resize(static_cast<std::size_t>(got));
        return buffer;
      }
      if (SSL_get_error(impl_->tls, got) == SSL_ERROR_ZERO_RETURN) return std::string();
      events = impl_->wanted(got);
      if (events == 0) return fail(Trouble::cut, tls_error_text());
    } else {
      const ssize_t got = ::recv(impl_->fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got >= 0) {
        buffer.resize(static_cast<std::size_t>(got));
        return buffer;
      }
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return fail(Trouble::cut, error_text(errno));
    }
    if (!wait_for(impl_->fd, events, deadline)) return fail(Trouble::timed_out, "no answer in time");
  }
}

bool Wire::readable(Deadline deadline) const {
  return wait_for(impl_->fd, POLLIN, deadline);
}

int Wire::fd() const {
  return impl_->fd;
}

void Wire::close() {
  if (impl_->tls != nullptr) SSL_shutdown(impl_->tls);
  impl_ = std::make_unique<Impl>();
}

void Wire::reset() {
  if (impl_->fd >= 0) {
    const linger now{1, 0};
    ::setsockopt(impl_->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  impl_ = std::make_unique<Impl>();
}

Listener::Listener(const Endpoint& where) : endpoint_(where) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found) != 0) {
    throw std::system_error(EADDRNOTAVAIL, std::generic_category(), where.host);
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  fd_ = ::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (fd_ < 0 || ::bind(fd_, list->ai_addr, list->ai_addrlen) != 0 || ::listen(fd_, 256) != 0 ||
      ::pipe2(static_cast<int*>(wake_), O_CLOEXEC | O_NONBLOCK) != 0) {
    const int error = errno;
    if (fd_ >= 0) ::close(fd_);
    throw std::system_error(error, std::generic_category(),
                            "listen on " + where.host + ":" + std::to_string(where.port));
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  ::getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size);
  const auto port = bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                                : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
  endpoint_.port = ntohs(port);
}

Listener::~Listener() {
  ::close(fd_);
  ::close(wake_[0]);
  ::close(wake_[1]);
}

int Listener::accept(Deadline deadline) const {
  while (true) {
    std::array<pollfd, 2> entries{pollfd{fd_, POLLIN, 0}, pollfd{wake_[0], POLLIN, 0}};
    const int ready = ::poll(entries.data(), entries.size(), milliseconds_left(deadline));
    if (ready == 0 && Clock::now() >= deadline) return -1;
    if (entries[1].revents != 0) return -1;
    const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) return fd;
  }
}

void Listener::stop() {
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = ::write(wake_[1], &byte, 1);
}

}  // namespace stet::probe
