#pragma once
// What an owner writes about its attempt, and what its caller sees then.

#include "stet/shown.hpp"

namespace stet {

struct Settlement {
  enum class Write : std::uint8_t { complete, release, give_back, settle_unknown };
  // Whether `shown` is true before the write is durable. An answer is only shown once it is kept; that a
  // joined attempt did nothing is true once its token is fenced, and not before.
  enum class Holds : std::uint8_t { already, once_written };
  // look: the upstream may have recorded the answer itself, so the record is read before anything is written.
  enum class First : std::uint8_t { write, look };

  Write write;
  Shown shown;
  Holds holds = Holds::already;
  First first = First::write;
};

}  // namespace stet
