#pragma once
// For tests: a store file in a directory of its own, gone with the object.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "stores/sqlite/sqlite_store.hpp"

namespace stet::stores::sqlite {

class TestFile {
 public:
  TestFile() {
    std::string name = (std::filesystem::temp_directory_path() / "stet-store-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    directory_ = name;
  }
  ~TestFile() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;

  std::string path() const { return (directory_ / "stet.db").string(); }
  std::string directory() const { return directory_.string(); }

 private:
  std::filesystem::path directory_;
};

// Without fsync at each commit and without a ballast; an I/O error is an exception instead of the end.
inline Options quick_options() {
  Options options;
  options.sync = Options::Sync::os;
  options.free_space_floor = 0;
  options.ballast = 0;
  options.die = [](const std::string&) {};
  return options;
}

}  // namespace stet::stores::sqlite
