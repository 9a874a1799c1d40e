#pragma once
// How many bytes of bodies the process holds in memory. Any thread.

#include <atomic>
#include <cstdint>
#include <utility>

#include "admin/instruments.hpp"

namespace stet::gateway {

class BodyBudget {
 public:
  BodyBudget(std::uint64_t limit, admin::Gauge& shown) : limit_(limit), shown_(shown) {}
  void set_limit(std::uint64_t limit) { limit_.store(limit, std::memory_order_relaxed); }

  // What one request holds; given back at its end.
  class Share {
   public:
    explicit Share(BodyBudget& budget) : budget_(&budget) {}
    Share(Share&& other) noexcept : budget_(other.budget_), held_(std::exchange(other.held_, 0)) {}
    Share& operator=(Share&&) = delete;
    ~Share() { budget_->give_back(held_); }

    enum class Granted : std::uint8_t { no, yes };
    // Up to `total` bytes in all. No: nothing changed, and the request is refused before its claim.
    Granted grow_to(std::uint64_t total) {
      if (total <= held_) return Granted::yes;
      if (budget_->try_take(total - held_) == Granted::no) return Granted::no;
      held_ = total;
      return Granted::yes;
    }
    // An answer that has come is kept whatever the budget says; new requests feel it.
    void add_answer(std::uint64_t bytes) {
      budget_->take(bytes);
      held_ += bytes;
    }

    // A replay: as large as it is, unless the budget is used up already. No: nothing changed.
    Granted add_replay(std::uint64_t bytes) {
      if (bytes == 0) return Granted::yes;
      if (grow_to(held_ + 1) == Granted::no) return Granted::no;
      add_answer(bytes - 1);
      return Granted::yes;
    }

   private:
    BodyBudget* budget_;
    std::uint64_t held_ = 0;
  };

 private:
  Share::Granted try_take(std::uint64_t bytes) {
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes > limit_.load(std::memory_order_relaxed)) {
      used_.fetch_sub(bytes, std::memory_order_relaxed);
      return Share::Granted::no;
    }
    shown_.add(static_cast<std::int64_t>(bytes));
    return Share::Granted::yes;
  }
  void take(std::uint64_t bytes) {
    used_.fetch_add(bytes, std::memory_order_relaxed);
    shown_.add(static_cast<std::int64_t>(bytes));
  }
  void give_back(std::uint64_t bytes) {
    if (bytes == 0) return;
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    shown_.sub(static_cast<std::int64_t>(bytes));
  }

  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> limit_;
  admin::Gauge& shown_;
};

}  // namespace stet::gateway
