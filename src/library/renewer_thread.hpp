#pragma once
// Wakes the machines whose work is running, when they want to be woken.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "library/drive.hpp"
#include "stet/renewer.hpp"

namespace stet {

class Renewer::Thread {
 public:
  Thread();

  void add(const std::shared_ptr<library::Drive>&);
  void remove(const std::shared_ptr<library::Drive>&);  // when it returns, the drive is woken no more

 private:
  void run(const std::stop_token&);

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::condition_variable woken_;
  std::vector<std::shared_ptr<library::Drive>> drives_;
  std::shared_ptr<library::Drive> waking_;  // without the mutex, just now
  bool changed_ = false;
  std::jthread thread_;  // last: it ends before what it uses
};

namespace library {

// While it lives, or until stop(), the renewer wakes the drive.
class Renewing {
 public:
  Renewing(Renewer& renewer, std::shared_ptr<Drive> drive);
  ~Renewing() { stop(); }
  Renewing(const Renewing&) = delete;
  Renewing& operator=(const Renewing&) = delete;
  void stop();

 private:
  Renewer& renewer_;
  std::shared_ptr<Drive> drive_;
};

}  // namespace library
}  // namespace stet
