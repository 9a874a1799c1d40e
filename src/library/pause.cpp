#include "library/pause.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "library/drive.hpp"

namespace stet::library {

void pause(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::min(time, kLongest), [] { return false; });
}

}  // namespace stet::library
