#include "stores/sqlite/room.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace stet::stores::sqlite {
namespace {

constexpr std::uint64_t kFloorShare = 20;  // 5 %
constexpr std::uint64_t kBallastShare = 40;
constexpr std::chrono::seconds kBetweenTries(1);
constexpr std::uint64_t kLongestLog = 16 << 20;
constexpr std::uint64_t kShortestLog = 256 << 10;

}  // namespace

ProbeSpace probe_directory_of(const std::string& store_path) {
  std::string directory = std::filesystem::path(store_path).parent_path().string();
  if (directory.empty()) directory = ".";
  return [directory]() -> std::optional<DiskSpace> {
    struct statvfs space{};
    if (::statvfs(directory.c_str(), &space) != 0) return std::nullopt;
    return DiskSpace{space.f_blocks * space.f_frsize, space.f_bavail * space.f_frsize};
  };
}

Room::Room(const std::string& store_path, std::uint64_t floor, std::uint64_t ballast, ProbeSpace probe)
    : ballast_path_(store_path + "-ballast"), probe_(std::move(probe)), floor_(floor), ballast_(ballast) {
  if (const auto space = probe_()) {
    floor_ = std::min(floor, space->total / kFloorShare);
    ballast_ = std::min(ballast, space->total / kBallastShare);
  }
  std::error_code error;
  const auto size = std::filesystem::file_size(ballast_path_, error);
  has_ballast_ = !error && size > 0;
  if (has_ballast_ && ballast_ == 0) give_up_ballast();
}

// A disk that cannot be asked is taken for one with room: SQLite says soon enough when it has none.
bool Room::for_claims() const {
  if (floor_ == 0) return true;
  const auto space = probe_();
  return !space || space->free >= floor_;
}

bool Room::give_up_ballast() {
  if (!has_ballast_) return false;
  has_ballast_ = false;
  const int file = ::open(ballast_path_.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool freed = ::ftruncate(file, 0) == 0;
  ::fsync(file);  // journalling file systems give the blocks back with their next commit
  ::close(file);
  ::unlink(ballast_path_.c_str());
  return freed;
}

void Room::restore_ballast(MonoTime now) {
  if (has_ballast_ || ballast_ == 0 || (next_try_ && now < *next_try_)) return;
  next_try_ = now + kBetweenTries;
  const auto space = probe_();
  if (space && space->free < floor_ + ballast_) return;
  has_ballast_ = make_ballast();
}

bool Room::make_ballast() {
  const int file = ::open(ballast_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return false;
  const bool made = ::posix_fallocate(file, 0, static_cast<off_t>(ballast_)) == 0;
  ::close(file);
  if (!made) ::unlink(ballast_path_.c_str());
  return made;
}

std::uint64_t Room::log_limit() const {
  return floor_ == 0 ? kLongestLog : std::clamp(floor_ / 4, kShortestLog, kLongestLog);
}

}  // namespace stet::stores::sqlite
