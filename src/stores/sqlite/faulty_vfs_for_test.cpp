#include "stores/sqlite/faulty_vfs_for_test.hpp"

#include <sqlite3.h>

#include <new>

namespace stet::stores::sqlite {
namespace {

Faults faults;
sqlite3_vfs* platform = nullptr;
Recording recording = Recording::off;
std::map<std::string, DiskFile> disk;

struct File {
  sqlite3_file base;
  sqlite3_file* real;
  const char* path;  // SQLite keeps it as long as the file is open
};
File* of(sqlite3_file* file) {
  return reinterpret_cast<File*>(file);
}
const sqlite3_io_methods* real_methods(sqlite3_file* file) {
  return of(file)->real->pMethods;
}

int close(sqlite3_file* f) {
  return real_methods(f)->xClose(of(f)->real);
}
int read(sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
  return real_methods(f)->xRead(of(f)->real, to, size, at);
}
int write(sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
  ++faults.writes;
  const int code = faults.on_write ? faults.on_write(faults.writes) : SQLITE_OK;
  if (code != SQLITE_OK) return code;
  if (recording == Recording::on) {
    disk[of(f)->path].since.push_back({at, {static_cast<const char*>(from), static_cast<std::size_t>(size)}});
  }
  return real_methods(f)->xWrite(of(f)->real, from, size, at);
}
int truncate(sqlite3_file* f, sqlite3_int64 size) {
  if (recording == Recording::on) disk[of(f)->path].synced.resize(static_cast<std::size_t>(size));
  return real_methods(f)->xTruncate(of(f)->real, size);
}
void apply(const DiskFile::Write& write, std::string& to) {
  const auto at = static_cast<std::size_t>(write.at);
  if (to.size() < at + write.bytes.size()) to.resize(at + write.bytes.size());
  to.replace(at, write.bytes.size(), write.bytes);
}

// Not passed on: power is cut on the recorded disk only, and hundreds of lives with a sync a step would take
// minutes.
int sync(sqlite3_file* f, int) {
  ++faults.syncs;
  const int code = faults.on_sync ? faults.on_sync(faults.syncs) : SQLITE_OK;
  if (code == SQLITE_OK && recording == Recording::on) {
    DiskFile& file = disk[of(f)->path];
    for (const DiskFile::Write& write : file.since) apply(write, file.synced);
    file.since.clear();
  }
  return code;
}
int file_size(sqlite3_file* f, sqlite3_int64* size) {
  return real_methods(f)->xFileSize(of(f)->real, size);
}
int lock(sqlite3_file* f, int level) {
  return real_methods(f)->xLock(of(f)->real, level);
}
int unlock(sqlite3_file* f, int level) {
  return real_methods(f)->xUnlock(of(f)->real, level);
}
int check_reserved_lock(sqlite3_file* f, int* out) {
  return real_methods(f)->xCheckReservedLock(of(f)->real, out);
}
int file_control(sqlite3_file* f, int op, void* argument) {
  return real_methods(f)->xFileControl(of(f)->real, op, argument);
}
int sector_size(sqlite3_file* f) {
  return real_methods(f)->xSectorSize(of(f)->real);
}
int characteristics(sqlite3_file* f) {
  return real_methods(f)->xDeviceCharacteristics(of(f)->real);
}

const sqlite3_io_methods kMethods{1,
                                  close,
                                  read,
                                  write,
                                  truncate,
                                  sync,
                                  file_size,
                                  lock,
                                  unlock,
                                  check_reserved_lock,
                                  file_control,
                                  sector_size,
                                  characteristics,
                                  nullptr,
                                  nullptr,
                                  nullptr,
                                  nullptr,
                                  nullptr,
                                  nullptr};

int open(sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out) {
  File* const file = of(f);
  file->real = reinterpret_cast<sqlite3_file*>(file + 1);
  file->path = name;
  const int code = platform->xOpen(platform, name, file->real, flags, out);
  file->base.pMethods = file->real->pMethods != nullptr ? &kMethods : nullptr;
  return code;
}

int remove(sqlite3_vfs*, const char* name, int sync_directory) {
  disk.erase(name);
  return platform->xDelete(platform, name, sync_directory);
}

}  // namespace

void record_disk(Recording wanted) {
  recording = wanted;
  disk.clear();
}

const std::map<std::string, DiskFile>& recorded_disk() {
  return disk;
}

Faults& fresh_faults() {
  static sqlite3_vfs vfs;
  if (platform == nullptr) {
    platform = sqlite3_vfs_find(nullptr);
    vfs = *platform;
    vfs.iVersion = 1;
    vfs.pNext = nullptr;
    vfs.zName = kFaultyVfs.c_str();
    vfs.szOsFile = static_cast<int>(sizeof(File)) + platform->szOsFile;
    vfs.xOpen = open;
    vfs.xDelete = remove;
    if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK) throw std::bad_alloc();
  }
  faults = {};
  return faults;
}

}  // namespace stet::stores::sqlite
