#pragma once
// The log's queue and the loop that empties it into a file descriptor.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace stet::admin {

class LogWriter {
 public:
  // What is queued at the most; beyond it lines are dropped. At 300 bytes a line that is about 14,000 lines:
  // a pause of stderr of a second at full speed.
  static constexpr std::size_t kCapacity = 4 << 20;

  explicit LogWriter(int fd, std::size_t capacity = kCapacity) : fd_(fd), capacity_(capacity) {}

  void put(std::string_view line);  // with its newline; any thread, never blocks on the descriptor
  void run();                       // the writing thread, until stop() and the queue is empty
  void stop();
  // False: not everything was written in time.
  bool wait_until_written(std::chrono::milliseconds patience);
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  void write(std::string_view lines);

  const int fd_;
  const std::size_t capacity_;
  std::atomic<std::uint64_t> dropped_{0};
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable idle_;
  std::string queue_;
  bool torn_ = false;  // the last thing written was half a line; of the writing thread
  bool writing_ = false;
  bool hurry_ = false;  // somebody waits, or the end has come: no pause to gather lines
  bool stopping_ = false;
};

}  // namespace stet::admin
