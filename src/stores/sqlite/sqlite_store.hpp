#pragma once
// The gateway's embedded store: one file, one connection, one process
// (docs/adr/0002-append-only-sqlite-store.md).

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "stet/store.hpp"
#include "stores/clocks.hpp"
#include "stores/sqlite/room.hpp"

namespace stet::stores::sqlite {

struct Options {
  enum class Sync : std::uint8_t { full, os };  // after power loss; or only after a crash of the process
  Sync sync = Sync::full;
  std::uint64_t free_space_floor = 256 << 20;
  std::uint64_t ballast = 64 << 20;
  std::size_t cached_answers = 64 << 20;  // bytes
  std::function<void(std::string_view)> notice;
  std::function<void(const std::string&)> die;  // stores/open.hpp
  // For tests.
  Clocks clocks = Clocks::system();
  ProbeSpace probe_space;  // none: the directory's file system
  std::string vfs;         // none: the platform's
};

// Throws StoreError.
std::unique_ptr<Store> open(const std::string& path, Options options);

}  // namespace stet::stores::sqlite
