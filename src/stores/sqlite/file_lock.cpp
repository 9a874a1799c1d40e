#include "stores/sqlite/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "stet/error.hpp"

namespace stet::stores::sqlite {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

std::string reason() {
  return std::strerror(errno);
}

std::string directory_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

std::string holder(int descriptor) {
  std::array<char, 24> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  if (size <= 0) return "another process";
  std::string pid(text.data(), static_cast<std::size_t>(size));
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return "process " + pid;
}

}  // namespace

FileLock::FileLock(const std::string& store_path) {
  const std::string path = store_path + "-lock";
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly);
  if (descriptor_ < 0) {
    throw StoreError(StoreFailure::incompatible, "the store cannot be written: " + path + ": " + reason());
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const std::string why = errno == EWOULDBLOCK ? store_path + " is in use by " + holder(descriptor_) +
                                                       "; a file belongs to one gateway at a time"
                                                 : "cannot lock " + path + ": " + reason();
    ::close(descriptor_);
    throw StoreError(StoreFailure::incompatible, why);
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  // Only for the message above: that it cannot be written yet (a full disk, say) is no reason to refuse.
  if (::ftruncate(descriptor_, 0) == 0) [[maybe_unused]]
    const ssize_t written = ::pwrite(descriptor_, pid.data(), pid.size(), 0);
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void refuse_network_file_system(const std::string& store_path) {
  struct statfs system{};
  if (::statfs(directory_of(store_path).c_str(), &system) != 0) {
    throw StoreError(StoreFailure::incompatible,
                     "the store cannot be written: " + directory_of(store_path) + ": " + reason());
  }
  struct Known {
    unsigned long magic;
    const char* name;
  };
  static constexpr std::array<Known, 8> kNetworked{{{0x6969, "NFS"},
                                                    {0x517b, "SMB"},
                                                    {0xff534d42, "CIFS"},
                                                    {0xfe534d42, "SMB2"},
                                                    {0x01021997, "9p"},
                                                    {0x00c36400, "Ceph"},
                                                    {0x5346414f, "AFS"},
                                                    {0x73757245, "Coda"}}};
  const auto magic = static_cast<unsigned long>(system.f_type) & 0xffffffffUL;
  for (const Known& known : kNetworked) {
    if (known.magic != magic) continue;
    throw StoreError(StoreFailure::incompatible,
                     store_path + " lies on " + known.name +
                         ", where neither locks nor fsync can be trusted: keep the file on a local disk");
  }
}

void create_private(const std::string& store_path) {
  const int file = ::open(store_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kOwnerOnly);
  if (file < 0) {
    throw StoreError(StoreFailure::incompatible,
                     "the store cannot be written: " + store_path + ": " + reason());
  }
  ::close(file);
  const int directory = ::open(directory_of(store_path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace stet::stores::sqlite
