#pragma once
// One core's share of the gateway: an io_context with its thread, a letter box for other threads, and the ticks.
// Everything but post() belongs to the worker's own thread.

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "gateway/asio.hpp"
#include "gateway/timed.hpp"

namespace stet::gateway {

class Worker {
 public:
  using Letter = std::function<void()>;

  Worker();
  ~Worker();
  void start();
  void stop();  // any thread; what still runs is dropped
  void join();

  // Any thread. Letters that arrive together are read in one turn, in their order.
  void post(Letter);

  // Whether the caller runs on this worker's thread.
  bool here() const { return thread_id_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

  asio::io_context& io() { return io_; }
  Executor executor() { return io_.get_executor(); }

  TimedList& connections() { return connections_; }  // looked at every kSlowTick
  TimedList& sessions() { return sessions_; }        // the same
  void add_operation(Timed&);                        // looked at every kFastTick
  void remove_operation(Timed& timed) { operations_.remove(timed); }
  std::size_t operations() const { return operations_.size(); }

  static constexpr std::chrono::milliseconds kSlowTick{250};
  static constexpr std::chrono::milliseconds kFastTick{10};

 private:
  void read_letters();
  Task<void> tick_slowly();
  void tick_fast();

  TimedList connections_;  // before io_: what the io_context still holds at its end takes itself off these lists
  TimedList sessions_;
  TimedList operations_;
  asio::io_context io_;
  asio::executor_work_guard<Executor> work_;
  std::thread thread_;
  std::atomic<std::thread::id> thread_id_{};
  std::mutex letters_mutex_;
  std::vector<Letter> letters_;  // guarded by letters_mutex_
  std::vector<Letter> reading_;
  Timer slow_;
  Timer fast_;
  bool fast_runs_ = false;
};

}  // namespace stet::gateway
