#pragma once
// A store with connections and transactions of its own: when a call returns, what it wrote is durable. For claims
// that must be there before a call to somebody else's service starts (phases.hpp), and for sweeping.
//
// Threads: any number at a time, unlike a plain Store. Errors: those of Store.

#include "stet/store.hpp"

namespace stet {

class Pool : public Store {};

}  // namespace stet
