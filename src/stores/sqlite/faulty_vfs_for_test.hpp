#pragma once
// For tests: the platform's file system with faults. It has no shared memory, so a store that works on it
// proves that it never needs any (locking_mode=EXCLUSIVE).

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace stet::stores::sqlite {

struct Faults {
  long writes = 0;
  long syncs = 0;
  // What a write or a sync is to fail with, given how many there have been: an SQLite code, or 0 (SQLITE_OK).
  std::function<int(long nth)> on_write;
  std::function<int(long nth)> on_sync;
};

// What a disk holds of one file: what was synced, and the writes since, of which a power cut keeps any.
struct DiskFile {
  struct Write {
    std::int64_t at;
    std::string bytes;
  };
  std::string synced;
  std::vector<Write> since;
};
// Kept by path while it is on; never while it is off, so that other tests cost nothing.
enum class Recording : std::uint8_t { off, on };
void record_disk(Recording recording);
const std::map<std::string, DiskFile>& recorded_disk();

// Registers the file system once and clears all faults. One test at a time.
Faults& fresh_faults();
inline const std::string kFaultyVfs = "stet-faulty";

}  // namespace stet::stores::sqlite
