#pragma once
// From a store URL to a store, whatever the engine: what `serve` and `stet keys` call.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stet/store.hpp"

namespace stet::stores {

enum class Durability : std::uint8_t {
  full,  // survives power loss once acknowledged
  os,    // survives a crash of the process only
};

struct OpenOptions {
  Durability durability = Durability::full;
  std::uint64_t free_space_floor = 256 << 20;  // bytes; claims are refused below it
  std::uint64_t ballast = 64 << 20;  // bytes kept in a file of their own, given up when completions need room
  std::optional<std::string> encryption_key;  // 32 bytes
  std::size_t pool = 2;                       // connections to a store that is a server
  enum class Missing : std::uint8_t { create, refuse };
  Missing missing = Missing::create;  // a schema that is not there; looking must not make one

  // One line for the log, from a thread that uses the store. May be empty.
  std::function<void(std::string_view)> notice;
  // The same, when what was acknowledged may be gone: a server that failed over, another cluster behind the
  // address.
  std::function<void(std::string_view)> alarm;

  // Called when going on could lie about what is durable (an I/O error at a commit). Must not return in
  // production: the default writes the text as the last line of stderr and ends the process with status 3.
  // When it does return, the store refuses every further command.
  std::function<void(const std::string& last_words)> die;
};

// Throws StoreError: `incompatible` for what no retry helps (a URL of an engine not built in, a newer file, a
// second gateway, a file that cannot be written), `unavailable` or `corrupt` as they are.
std::unique_ptr<Store> open_store(const std::string& url, const OpenOptions&);

// The same store on as many connections as it can use at once, each for a thread of its own (Committer); for
// a file one.
std::vector<std::unique_ptr<Store>> open_stores(const std::string& url, const OpenOptions&);

// `sqlite:PATH` → PATH; nothing for the other engines. For messages, and for callers that treat a file
// specially.
std::optional<std::string> sqlite_path(std::string_view url);

}  // namespace stet::stores
