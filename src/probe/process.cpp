#include "probe/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

#include "probe/interruption.hpp"

namespace stet::probe {
namespace {

constexpr std::size_t kKeptOutput = 64 * 1024;  // of a command that prints without end
constexpr std::chrono::seconds kToStop{2};      // for a server to end in order
constexpr std::chrono::seconds kToDie{10};      // of SIGKILL: only the kernel can be in the way

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

enum class Lifetime : std::uint8_t { as_long_as_the_probe, its_own };

// A shell in a process group of its own; `output` becomes its stdout and stderr.
pid_t spawn(const std::string& command, int output, Lifetime lifetime) {
  const pid_t child = ::fork();
  if (child < 0) throw_errno("fork");
  if (child == 0) {
    ::setpgid(0, 0);
    // A probe that is interrupted leaves no server behind.
    if (lifetime == Lifetime::as_long_as_the_probe) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_DFL);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, 0);
    ::dup2(output, 1);
    ::dup2(output, 2);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::setpgid(child, child);  // both set it, so that it holds whoever runs first
  return child;
}

int exit_code(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

CommandResult run_command(const std::string& command, Deadline deadline) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe");
  const pid_t child = spawn(command, ends[1], Lifetime::its_own);
  ::close(ends[1]);
  CommandResult result;
  int status = 0;
  bool reaped = false;
  // A command may leave a background process behind that holds the pipe open: its own end is what counts.
  while (!reaped) {
    reaped = ::waitpid(child, &status, WNOHANG) == child;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (!reaped && (left <= 0 || interrupted())) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      result.end = CommandResult::End::timed_out;
      reaped = true;
    }
    pollfd entry{ends[0], POLLIN, 0};
    std::array<char, 4096> buffer{};
    while (::poll(&entry, 1, reaped ? 0 : 5) > 0) {
      const ssize_t got = ::read(ends[0], buffer.data(), buffer.size());
      if (got <= 0) {
        if (!reaped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        break;
      }
      if (result.output.size() < kKeptOutput)
        result.output.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  ::close(ends[0]);
  result.exit_code = exit_code(status);
  return result;
}

ServerProcess::~ServerProcess() {
  if (at_end_ == AtEnd::stop && group_ > 0) {
    ::kill(-group_, SIGTERM);
    if (!group_ends(Clock::now() + kToStop)) kill();
  }
  if (log_ >= 0) ::close(log_);
}

void ServerProcess::start() {
  if (log_ >= 0) ::close(log_);
  log_ = ::memfd_create("server-output", MFD_CLOEXEC);
  if (log_ < 0) throw_errno("memfd_create");
  ::fcntl(log_, F_SETFL, O_APPEND);
  // Its children's children become the probe's own when their parents end, so that their end, too, can be
  // waited for.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  group_ = leader_ =
      spawn(command_, log_, at_end_ == AtEnd::stop ? Lifetime::as_long_as_the_probe : Lifetime::its_own);
}

void ServerProcess::kill() {
  if (group_ < 0) return;
  ::kill(-group_, SIGKILL);
  group_ends(Clock::now() + kToDie);
  group_ = leader_ = -1;
}

bool ServerProcess::running() {
  if (leader_ < 0) return false;
  if (::waitpid(leader_, nullptr, WNOHANG) == 0) return true;
  leader_ = -1;
  return false;
}

bool ServerProcess::group_ends(Deadline deadline) const {
  while (true) {
    const pid_t ended = ::waitpid(-group_, nullptr, WNOHANG);
    if (ended < 0) return true;  // ECHILD
    if (ended > 0) continue;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::string ServerProcess::last_output() const {
  if (log_ < 0) return {};
  const off_t size = ::lseek(log_, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::min<off_t>(size, 2048)), '\0');
  const ssize_t got = ::pread(log_, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace stet::probe
