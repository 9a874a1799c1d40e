#pragma once
// Room on the disk. A full disk can neither complete nor delete nor checkpoint, so claims stop while there is
// still room for the completions of what is running, and a ballast file is given up when even that is gone.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "stores/clocks.hpp"

namespace stet::stores::sqlite {

struct DiskSpace {  // bytes
  std::uint64_t total = 0;
  std::uint64_t free = 0;  // for us
};
using ProbeSpace = std::function<std::optional<DiskSpace>()>;
ProbeSpace probe_directory_of(const std::string& store_path);

class Room {
 public:
  // Sizes are upper bounds: 5 % of a smaller disk for the floor, half of that for the ballast.
  Room(const std::string& store_path, std::uint64_t floor, std::uint64_t ballast, ProbeSpace probe);

  bool for_claims() const;

  // Frees the ballast. False: it was not there.
  bool give_up_ballast();
  // Makes the ballast again once the disk has room for it above the floor. Cheap to call often.
  void restore_ballast(MonoTime now);

  std::uint64_t floor() const { return floor_; }
  std::uint64_t ballast() const { return ballast_; }
  // How long the write-ahead log may grow before it is put into the file: 16 MiB, less on a small disk.
  std::uint64_t log_limit() const;

 private:
  bool make_ballast();

  const std::string ballast_path_;
  const ProbeSpace probe_;
  std::uint64_t floor_ = 0;
  std::uint64_t ballast_ = 0;
  bool has_ballast_ = false;
  std::optional<MonoTime> next_try_;
};

}  // namespace stet::stores::sqlite
