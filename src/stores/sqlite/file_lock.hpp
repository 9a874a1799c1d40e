#pragma once
// One gateway a file: an flock on a sidecar, held as long as the process lives.

#include <string>

namespace stet::stores::sqlite {

class FileLock {
 public:
  // Throws StoreError{incompatible} when another process holds it or the file cannot be made.
  explicit FileLock(const std::string& store_path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

// Throws StoreError{incompatible} when the directory lies on a file system whose locks and fsync reach across
// a network.
void refuse_network_file_system(const std::string& store_path);

// Makes the file when there is none, readable by its owner only: stored answers are as secret as the
// upstream's.
void create_private(const std::string& store_path);

}  // namespace stet::stores::sqlite
