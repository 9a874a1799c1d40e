#pragma once
// Bytes received and not yet used, in one contiguous piece. Grows on demand; gives back what it grew when empty, so
// that an idle connection costs the initial size only.

#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace stet::gateway {

class ReadBuffer {
 public:
  static constexpr std::size_t kInitial = 4 << 10;
  static constexpr std::size_t kComfortable = 16 << 10;  // for bodies: one read takes what a TLS record holds

  std::string_view data() const { return {bytes_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }

  void consume(std::size_t n) {
    begin_ += n;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  // Room for at least `n` bytes behind the data; moves or grows when it must.
  std::span<char> room(std::size_t n) {
    if (capacity_ - end_ < n) make_room(n);
    return {bytes_.get() + end_, capacity_ - end_};
  }
  void filled(std::size_t n) { end_ += n; }
  void shrink() {
    if (!empty() || capacity_ <= kInitial) return;
    bytes_.reset();
    capacity_ = 0;
    begin_ = end_ = 0;
  }

 private:
  void make_room(std::size_t n) {
    const std::size_t held = size();
    if (begin_ > 0 && capacity_ - held >= n) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, held);
    } else {
      std::size_t wanted = capacity_ == 0 ? kInitial : capacity_ * 2;
      while (wanted - held < n) wanted *= 2;
      auto grown = std::make_unique_for_overwrite<char[]>(wanted);
      if (held > 0) std::memcpy(grown.get(), bytes_.get() + begin_, held);
      bytes_ = std::move(grown);
      capacity_ = wanted;
    }
    begin_ = 0;
    end_ = held;
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace stet::gateway
