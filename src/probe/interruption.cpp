#include "probe/interruption.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

namespace stet::probe {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// A handler reaches nothing but globals, and of these only what is lock-free.
std::atomic<int> came = 0;
std::array<int, 2> ends = {-1, -1};
std::array<struct sigaction, kSignals.size()> before;
static_assert(std::atomic<int>::is_always_lock_free);

void note(int number) {
  const int error = errno;
  came = number;
  [[maybe_unused]] const ssize_t written = ::write(ends[1], "", 1);
  errno = error;
}

}  // namespace

Interruptible::Interruptible() {
  came = 0;
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  struct sigaction action {};
  action.sa_handler = &note;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals.at(i), nullptr, &before.at(i));
    if (before.at(i).sa_handler != SIG_IGN) ::sigaction(kSignals.at(i), &action, nullptr);
  }
}

Interruptible::~Interruptible() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals.at(i), &before.at(i), nullptr);
  for (int& end : ends) {
    ::close(end);
    end = -1;
  }
  came = 0;
}

bool interrupted() {
  return came != 0;
}

std::string interruption() {
  const char* name = interrupted() ? ::sigabbrev_np(came) : nullptr;
  return name == nullptr ? "" : "SIG" + std::string(name);
}

int interruption_fd() {
  return ends[0];
}

void pause(std::chrono::milliseconds time) {
  pollfd entry{interruption_fd(), POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + time;
  for (auto left = time; left.count() > 0 && !interrupted();) {
    ::poll(&entry, 1, static_cast<int>(left.count()));
    left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
  }
}

}  // namespace stet::probe
