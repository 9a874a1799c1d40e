#pragma once
// What an upstream promises about an attempt whose outcome is not known, and what that leaves to be said of
// it.

#include "config/keys.hpp"

namespace stet::config {

// Contradictions between upstream_joins and the keys that only make sense without it.
void check_promise(const RouteDraft&, Findings&);

// A joining route means `joined` by on_unknown, whatever it has inherited. Only once nobody inherits from it
// any more.
void apply_promise(Route&);

// Whether attempts go upstream with their token (Stet-Token), so that the upstream can join them to its own
// transaction: the store is a database that services share, and what they write into it can be read.
bool sends_token(const Config&);

}  // namespace stet::config
