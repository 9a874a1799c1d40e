#pragma once
// Judgement as three pure tables: what a claim's result means, what the upstream's outcome means, and what becomes of a
// lapsed record that nobody retries.

#include <variant>

#include "stet/exchange.hpp"
#include "stet/policy.hpp"
#include "stet/shown.hpp"

namespace stet {

namespace decision {
struct Run {};  // the claim is ours
struct Show {   // nothing more happens
  Shown shown;
};
struct Wait {  // another owner is at it
  milliseconds retry_after{};
};
struct Compare {  // the fingerprint differs: judge by the recipe that made the stored one
  Recipe recipe;
};
struct TakeOver {
  Token seen;
};
struct Ask {
  Token seen;
};
struct SettleUnknown {
  Token seen;
};
}  // namespace decision
using Decision = std::variant<decision::Run, decision::Show, decision::Wait, decision::Compare,
                              decision::TakeOver, decision::Ask, decision::SettleUnknown>;

// What a claim's result means for a caller whose route says `policy` and whose claim carried `recipe`.
Decision decide(const Result&, const Policy&, const Recipe& recipe, RunsHere);

// What the upstream's outcome means, by the terms of the record and the statuses of the route.
Settlement settle(const UpstreamOutcome&, const Policy&, Earlier);

// What a reconciler does with a lapsed record that nobody retries: by the record's own policy, as far as the
// route as it is configured now still bears it out.
enum class Reconcile : std::uint8_t {
  leave,
  settle_unknown,  // as an observer
  ask,
  release,  // and free the key
};
Reconcile reconcile(const Record&, UpstreamPromise now);

}  // namespace stet
