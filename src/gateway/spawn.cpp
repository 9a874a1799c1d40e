#include "gateway/spawn.hpp"

#include <boost/asio/co_spawn.hpp>

namespace stet::gateway {

void spawn(Worker& worker, Task<void> task) {
  asio::co_spawn(worker.executor(), std::move(task), [](std::exception_ptr broken) {
    if (broken) std::rethrow_exception(broken);
  });
}

}  // namespace stet::gateway
