#pragma once
// Connections of a pool: made when they are needed, taken by one thread at a time, given back by themselves.
// Threads: any.

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "stet/error.hpp"
#include "stet/record.hpp"

namespace stet::stores {

// Beyond it the clock's arithmetic, and SQLite's int, may overflow.
inline constexpr milliseconds kLongestWait = std::chrono::hours(24);

// Throws StoreError (not_written) when that does not come true in time.
template <class Ready>
void wait_for_one(std::condition_variable& given_back, std::unique_lock<std::mutex>& lock, milliseconds time,
                  Ready ready) {
  time = std::min(time, kLongestWait);
  if (given_back.wait_for(lock, time, ready)) return;
  throw StoreError(StoreFailure::not_written,
                   "no connection of the pool has come free in " + std::to_string(time.count()) +
                       " ms: is a transaction asked for while another one is held?");
}

template <class T>
class Shelf : public std::enable_shared_from_this<Shelf<T>> {
 public:
  Shelf(std::size_t most, milliseconds patience) : most_(most), patience_(patience) {}

  // `make` is called outside the lock; `fits` says whether what comes back is of use to the next.
  template <class Make, class Fits>
  std::shared_ptr<T> take(Make make, Fits fits) {
    std::unique_ptr<T> one;
    {
      std::unique_lock lock(mutex_);
      wait_for_one(given_back_, lock, patience_, [this] { return !idle_.empty() || made_ < most_; });
      if (idle_.empty()) {
        ++made_;
      } else {
        one = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    try {
      if (one == nullptr || !fits(*one)) one = make();
    } catch (...) {
      give_back(nullptr);
      throw;
    }
    return std::shared_ptr<T>(one.release(), [shelf = this->shared_from_this(), fits](T* back) {
      std::unique_ptr<T> owned(back);
      if (!fits(*owned)) owned.reset();
      shelf->give_back(std::move(owned));
    });
  }

 private:
  void give_back(std::unique_ptr<T> one) noexcept {
    const std::lock_guard lock(mutex_);
    if (one != nullptr) {
      idle_.push_back(std::move(one));
    } else {
      --made_;
    }
    given_back_.notify_one();
  }

  const std::size_t most_;
  const milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<T>> idle_;
  std::size_t made_ = 0;  // idle or taken
};

}  // namespace stet::stores
