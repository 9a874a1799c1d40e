#pragma once
// What a caller cannot answer by itself. Everything that can be an ordinary answer is a value
// (record.hpp, store.hpp); "somebody else has it" is never an exception.

#include <stdexcept>
#include <string>
#include <tl/expected.hpp>

namespace stet {

// The one `expected` of the project, for parsing and for configuration.
template <class T, class E>
using Expected = tl::expected<T, E>;
using tl::unexpected;

enum class StoreFailure {
  unavailable,   // not reachable, or not now; the command may or may not have been written
  not_written,   // refused before anything was written: a claim that met this does not exist
  full,          // the same, because there is no room
  corrupt,       // a row that cannot be read or does not verify: it is neither replayed nor run again
  incompatible,  // another schema version, a replica, missing rights: start-up only
};

// Thrown by stores, caught at the request boundary, in background loops and in main.
// On a write, `unavailable` means unknown: repeat with the same nonce, or read again (protocol.md, rule 5).
class StoreError : public std::runtime_error {
 public:
  StoreError(StoreFailure kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  StoreFailure kind() const { return kind_; }

 private:
  StoreFailure kind_;
};

}  // namespace stet
