#include "admin/supervisor.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

namespace stet::admin {
namespace {

// A supervisor's socket at `path`; '@' stands for the abstract namespace.
struct Listener {
  explicit Listener(const std::string& path)
      : fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    if (path.front() == '@') address.sun_path[0] = '\0';
    const auto size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (path[0] == '@' ? 0 : 1));
    EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), size), 0);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~Listener() {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(fd);
  }
  std::string received() const {
    std::array<char, 256> text{};
    const ssize_t got = ::recv(fd, text.data(), text.size(), 0);
    return got < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(got));
  }
  int fd;
};

TEST(Supervisor, is_told_over_a_socket_in_the_file_system) {
  const std::string path = testing::TempDir() + "/notify." + std::to_string(::getpid());
  const Listener supervisor(path);
  notify_supervisor("READY=1");
  EXPECT_EQ(supervisor.received(), "READY=1");
  ::unlink(path.c_str());
}

TEST(Supervisor, is_told_over_an_abstract_socket) {
  const Listener supervisor("@stet-test-" + std::to_string(::getpid()));
  notify_supervisor("STOPPING=1");
  EXPECT_EQ(supervisor.received(), "STOPPING=1");
}

TEST(Supervisor, that_is_not_there_changes_nothing) {
  notify_supervisor("READY=1");
  ::setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
  notify_supervisor("READY=1");
  ::setenv("NOTIFY_SOCKET", std::string(500, '/').c_str(), 1);
  notify_supervisor("READY=1");
  ::unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace stet::admin
