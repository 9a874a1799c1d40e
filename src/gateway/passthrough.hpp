#pragma once
// A request that is not keyed: proxied as it is, streamed both ways, never sent twice.

#include <optional>

#include "gateway/session.hpp"

namespace stet::gateway {

struct PassThrough {
  std::optional<std::string> body;  // when it was read already
  Headers more;                     // lines of ours for the answer
};
Task<After> pass_through(Session&, Request&, PassThrough);

}  // namespace stet::gateway
