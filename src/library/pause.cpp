#include "library/pause.hpp"

#include <condition_variable>
#include <mutex>

namespace stet::library {

void pause(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace stet::library
