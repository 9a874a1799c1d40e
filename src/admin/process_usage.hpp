#pragma once
// What the kernel says about this process (proc(5), getrusage(2)).

#include <cstdint>

namespace stet::admin {

struct ProcessUsage {
  double cpu_seconds = 0;
  std::int64_t resident_bytes = 0;
  std::int64_t open_files = 0;
  std::int64_t open_files_limit = 0;
};
ProcessUsage process_usage();

}  // namespace stet::admin
