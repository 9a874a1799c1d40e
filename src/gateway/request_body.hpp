#pragma once
// Reading the whole body of a keyed request, before anything is claimed.

#include "gateway/body_budget.hpp"
#include "gateway/session.hpp"

namespace stet::gateway {

enum class BodyTrouble : std::uint8_t {
  malformed,    // or refused trailers
  too_large,
  over_budget,  // too many bytes of bodies in memory already
  gone,         // the caller left, or sent nothing for too long
};
Task<Expected<std::string, BodyTrouble>> read_whole_body(Session&, Request&, BodyBudget::Share&);

// The caller said `Expect: 100-continue` and waits; said once, before the first read.
Task<void> say_continue(Session&, Request&);

}  // namespace stet::gateway
