#pragma once
// What no key can know alone: contradictions between keys, and between routes.

#include <vector>

#include "config/keys.hpp"

namespace stet::config {

// `routes` after inheritance, in order.
void check_route(const TopDraft&, const RouteDraft&, Findings&);
void check_reachable(const std::vector<RouteDraft>& routes, Findings&);
// `whole` is where the missing is said to be missing.
void check_top(const TopDraft&, const Place& whole, Findings&);

}  // namespace stet::config
