#include "admin/process_usage.hpp"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>

namespace stet::admin {
namespace {

std::int64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  long total = 0;
  long resident = 0;
  const int read = std::fscanf(file, "%ld %ld", &total, &resident);
  std::fclose(file);
  return read == 2 ? std::int64_t{resident} * sysconf(_SC_PAGESIZE) : 0;
}

std::int64_t open_files() {
  DIR* directory = ::opendir("/proc/self/fd");
  if (directory == nullptr) return 0;
  std::int64_t entries = 0;
  while (::readdir(directory) != nullptr) ++entries;
  ::closedir(directory);
  return entries - 3;  // ".", ".." and the directory's own
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

ProcessUsage process_usage() {
  ProcessUsage usage;
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0)
    usage.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    usage.open_files_limit = static_cast<std::int64_t>(limit.rlim_cur);
  usage.resident_bytes = resident_bytes();
  usage.open_files = open_files();
  return usage;
}

}  // namespace stet::admin
