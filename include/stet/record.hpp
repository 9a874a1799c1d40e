#pragma once
// One record of the store, by (scope, key). See docs/protocol.md for the life of a record.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stet/identity.hpp"

namespace stet {

using std::chrono::milliseconds;
using WallTime = std::chrono::sys_time<milliseconds>;  // the store's own clock, UTC

// A retention that never ends ("forever").
inline constexpr milliseconds kForever = milliseconds::max();

enum class State : std::uint8_t { pending, completed, unknown, expired };
std::string_view name(State);
std::optional<State> parse_state(std::string_view);

// What a lapsed attempt means. `joined` (upstream_joins): the upstream records the answer in the transaction
// of its rows, so a record that is still pending proves that nothing was committed, and whoever fences it may
// run again.
enum class OnUnknown : std::uint8_t { fail, retry, ask, joined };
std::string_view name(OnUnknown);

struct Header {
  std::string name;
  std::string value;
  bool operator==(const Header&) const = default;
};
using Headers = std::vector<Header>;  // order and repeats kept

enum class Kept : std::uint8_t { whole, head_only };

// What the caller was told. `head_only`: the body was larger than the route keeps (http.md, answer-not-kept);
// `body` is empty then and never shown.
struct Answer {
  int status = 0;
  Headers headers;
  std::string body;
  Kept kept = Kept::whole;
  bool operator==(const Answer&) const = default;
};

// What the route said when the operation was claimed. It rules the record for the rest of its life.
struct Terms {
  std::string scope_rule;  // how the scope was found; the status location applies it again
  OnUnknown on_unknown = OnUnknown::fail;
  milliseconds retention = std::chrono::hours(24);  // from completion; kForever allowed
  milliseconds tombstone = std::chrono::hours(24);  // after that, the key stays excluded so long
  bool operator==(const Terms&) const = default;
};

struct Record {
  Token token;  // scope, key, the present owner's nonce, attempt
  Fingerprint fingerprint;
  std::string method;
  std::string path;  // as the first request spelt it, without its query
  State state = State::pending;
  bool maybe_executed = false;  // an earlier attempt ended unknown
  Terms terms;
  std::string recovery_point;
  std::optional<Answer> answer;
  WallTime created_at{};
  std::optional<WallTime> lease_until;  // pending only
  std::optional<WallTime> expires_at;   // completed: end of the retention (none: forever);
                                        // expired: end of the tombstone
  OperationId id() const { return token.id(); }
};

}  // namespace stet
