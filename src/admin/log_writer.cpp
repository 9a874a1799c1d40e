#include "admin/log_writer.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace stet::admin {
namespace {

// Gathering for so long turns a wake-up for each line into one for many; nobody reads a log faster.
constexpr std::chrono::milliseconds kGather{2};
constexpr std::size_t kEnough = 64 << 10;
// A pipe that polls as writable takes this much without blocking (pipe(7)).
constexpr std::size_t kPiece = 4096;

std::uint64_t count_lines(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

void LogWriter::put(std::string_view line) {
  bool wake = false;
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.size() + line.size() > capacity_) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    const bool was_enough = queue_.size() >= kEnough;
    wake = queue_.empty();
    queue_.append(line);
    wake = wake || (!was_enough && queue_.size() >= kEnough);
  }
  if (wake) work_.notify_one();
}

void LogWriter::run() {
  // Signals are for other threads; and a reader that went away is an error of write(), no SIGPIPE.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);

  std::string batch;
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [this] { return !queue_.empty() || stopping_; });
    if (queue_.empty()) return;
    work_.wait_for(lock, kGather, [this] { return hurry_ || stopping_ || queue_.size() >= kEnough; });
    batch.clear();
    batch.swap(queue_);
    writing_ = true;
    lock.unlock();
    write(batch);
    lock.lock();
    writing_ = false;
    if (queue_.empty()) {
      hurry_ = false;
      idle_.notify_all();
    }
  }
}

// Lines that cannot be written (a full disk, a reader gone) are dropped: serving goes on.
void LogWriter::write(std::string_view lines) {
  // A line cut off by a full disk must not swallow the next one.
  if (torn_ && ::write(fd_, "\n", 1) == 1) torn_ = false;
  while (!lines.empty()) {
    pollfd ready{fd_, POLLOUT, 0};
    if (::poll(&ready, 1, -1) < 0 && errno != EINTR) break;
    const ssize_t written = ::write(fd_, lines.data(), std::min(lines.size(), kPiece));
    if (written > 0) {
      torn_ = lines[static_cast<std::size_t>(written) - 1] != '\n';
      lines.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
      break;
    }
  }
  if (!lines.empty())
    dropped_.fetch_add(std::max<std::uint64_t>(count_lines(lines), 1), std::memory_order_relaxed);
}

void LogWriter::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
}

bool LogWriter::wait_until_written(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  hurry_ = true;
  work_.notify_all();
  return idle_.wait_for(lock, patience, [this] { return queue_.empty() && !writing_; });
}

}  // namespace stet::admin
