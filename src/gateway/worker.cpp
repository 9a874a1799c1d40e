#include "gateway/worker.hpp"

#include <pthread.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

namespace stet::gateway {

// Only this worker's thread touches its sockets, so their locks can be left out; post() stays thread-safe.
Worker::Worker()
    : io_(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO), work_(io_.get_executor()), slow_(io_), fast_(io_) {}

Worker::~Worker() {
  stop();
  join();
}

void Worker::start() {
  asio::co_spawn(io_, tick_slowly(), asio::detached);
  thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "stet-worker");
    thread_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    io_.run();
  });
}

void Worker::stop() { io_.stop(); }

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::post(Letter letter) {
  bool first = false;
  {
    const std::lock_guard lock(letters_mutex_);
    first = letters_.empty();
    letters_.push_back(std::move(letter));
  }
  if (first) asio::post(io_, [this] { read_letters(); });
}

void Worker::read_letters() {
  {
    const std::lock_guard lock(letters_mutex_);
    reading_.swap(letters_);
  }
  for (Letter& letter : reading_) letter();
  reading_.clear();
}

void Worker::add_operation(Timed& timed) {
  operations_.add(timed);
  if (fast_runs_) return;
  fast_runs_ = true;
  tick_fast();
}

void Worker::tick_fast() {
  fast_.expires_after(kFastTick);
  fast_.async_wait([this](error_code) {
    operations_.fire(std::chrono::steady_clock::now());
    fast_runs_ = !operations_.empty();
    if (fast_runs_) tick_fast();
  });
}

Task<void> Worker::tick_slowly() {
  for (;;) {
    slow_.expires_after(kSlowTick);
    co_await slow_.async_wait(as_result);
    const auto now = std::chrono::steady_clock::now();
    connections_.fire(now);
    sessions_.fire(now);
  }
}

}  // namespace stet::gateway
