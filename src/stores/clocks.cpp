#include "stores/clocks.hpp"

namespace stet::stores {

Clocks Clocks::system() {
  return {[] { return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()); },
          [] { return std::chrono::steady_clock::now(); }};
}

}  // namespace stet::stores
