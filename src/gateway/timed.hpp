#pragma once
// Deadlines without a timer each: things with a due time stand in a list, and one coarse tick looks through it.
// Ten thousand idle connections cost forty thousand comparisons a second and no allocation.

#include <chrono>
#include <cstddef>
#include <vector>

namespace stet::gateway {

using MonoTime = std::chrono::steady_clock::time_point;

class TimedList;

class Timed {
 public:
  Timed() = default;
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  virtual ~Timed() = default;

 protected:
  static constexpr MonoTime kNever = MonoTime::max();
  // Called once `due_` has passed, which is kNever again by then; may add to and remove from the list.
  virtual void on_due(MonoTime now) = 0;
  MonoTime due_ = kNever;

 private:
  friend TimedList;
  std::size_t slot_ = 0;
};

// Of one thread.
class TimedList {
 public:
  void add(Timed& timed) {
    timed.slot_ = list_.size();
    list_.push_back(&timed);
  }
  void remove(Timed& timed) {
    list_.back()->slot_ = timed.slot_;
    list_[timed.slot_] = list_.back();
    list_.pop_back();
  }
  // From the back, so that an element that removes itself puts an already seen one in its place. What is
  // removed besides may hide another until the next tick; none is ever forgotten.
  void fire(MonoTime now) {
    for (std::size_t i = list_.size(); i-- > 0;) {
      if (i >= list_.size() || list_[i]->due_ > now) continue;
      list_[i]->due_ = Timed::kNever;
      list_[i]->on_due(now);
    }
  }
  bool empty() const { return list_.empty(); }
  std::size_t size() const { return list_.size(); }
  template <class F>
  void for_each(F&& f) {
    for (std::size_t i = list_.size(); i-- > 0;) {
      if (i < list_.size()) f(*list_[i]);
    }
  }

 private:
  std::vector<Timed*> list_;
};

}  // namespace stet::gateway
