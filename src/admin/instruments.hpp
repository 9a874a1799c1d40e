#pragma once
// What is counted with: every operation is one relaxed atomic, from any thread, and never fails.

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stet::admin {

class Counter {
 public:
  void add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

class Gauge {
 public:
  void add(std::int64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  void sub(std::int64_t n = 1) { value_.fetch_sub(n, std::memory_order_relaxed); }
  void set(std::int64_t n) { value_.store(n, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Holds a gauge up by one (or n) for as long as it lives.
class Held {
 public:
  Held() = default;
  explicit Held(Gauge& gauge, std::int64_t n = 1) : gauge_(&gauge), n_(n) { gauge.add(n); }
  Held(Held&& other) noexcept : gauge_(other.gauge_), n_(other.n_) { other.gauge_ = nullptr; }
  Held& operator=(Held&& other) noexcept {
    if (this != &other) {
      release();
      gauge_ = other.gauge_;
      n_ = other.n_;
      other.gauge_ = nullptr;
    }
    return *this;
  }
  ~Held() { release(); }
  void release() {
    if (gauge_ != nullptr) gauge_->sub(n_);
    gauge_ = nullptr;
  }

 private:
  Gauge* gauge_ = nullptr;
  std::int64_t n_ = 0;
};

// Fixed upper bounds; the cell after the last bound takes what is larger. The unit is the caller's.
template <std::size_t N>
class BasicHistogram {
 public:
  explicit BasicHistogram(const std::array<std::uint64_t, N>& bounds) : bounds_(bounds) {}

  void observe(std::uint64_t value) {
    std::size_t cell = 0;
    while (cell < N && value > bounds_[cell]) ++cell;
    cells_[cell].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }
  std::span<const std::uint64_t> bounds() const { return bounds_; }
  std::uint64_t in_cell(std::size_t i) const { return cells_[i].load(std::memory_order_relaxed); }  // i ≤ N
  std::uint64_t sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  const std::array<std::uint64_t, N>& bounds_;
  std::array<std::atomic<std::uint64_t>, N + 1> cells_{};
  std::atomic<std::uint64_t> sum_{0};
};

// Microseconds. From a replay out of memory (50 µs) to the default response_timeout and the
// completion_timeout beyond it.
inline constexpr std::array<std::uint64_t, 18> kDurationBounds{
    50,     100,     250,     500,     1'000,     2'500,     5'000,      10'000,     25'000,
    50'000, 100'000, 250'000, 500'000, 1'000'000, 5'000'000, 10'000'000, 30'000'000, 600'000'000};
// Commands in one store batch.
inline constexpr std::array<std::uint64_t, 11> kBatchBounds{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

class DurationHistogram : public BasicHistogram<kDurationBounds.size()> {
 public:
  DurationHistogram() : BasicHistogram(kDurationBounds) {}
  void observe(std::chrono::nanoseconds elapsed) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count();
    BasicHistogram::observe(us < 0 ? 0 : static_cast<std::uint64_t>(us));
  }
};

class BatchHistogram : public BasicHistogram<kBatchBounds.size()> {
 public:
  BatchHistogram() : BasicHistogram(kBatchBounds) {}
};

}  // namespace stet::admin
