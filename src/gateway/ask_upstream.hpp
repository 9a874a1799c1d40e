#pragma once
// Asking the upstream what became of an attempt (docs/http.md, on_unknown = "ask").

#include "gateway/station.hpp"
#include "stet/exchange.hpp"

namespace stet::gateway {

// Asks the route's reconcile.url about the attempt that the token names.
Task<AskVerdict> ask_upstream(Station&, SnapshotPtr, const config::Route&, Token);

}  // namespace stet::gateway
