#pragma once
// For tests: the platform's file system with faults. It has no shared memory, so a store that works on it proves that
// it never needs any (locking_mode=EXCLUSIVE).

#include <functional>
#include <string>

namespace stet::stores::sqlite {

struct Faults {
  long writes = 0;
  long syncs = 0;
  // What a write or a sync is to fail with, given how many there have been: an SQLite code, or 0 (SQLITE_OK).
  std::function<int(long nth)> on_write;
  std::function<int(long nth)> on_sync;
};

// Registers the file system once and clears all faults. One test at a time.
Faults& fresh_faults();
inline const std::string kFaultyVfs = "stet-faulty";

}  // namespace stet::stores::sqlite
