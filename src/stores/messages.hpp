#pragma once
// What the outbox and the inbox take, the same on every database: what is accepted on one of them must not
// fail, or be cut off at a NUL, on the other.

#include <string_view>

#include "stet/session.hpp"

namespace stet::stores {

// Both throw StoreError (not_written).
void must_fit(const Message&);
void must_fit(std::string_view source, std::string_view event_id);

}  // namespace stet::stores
