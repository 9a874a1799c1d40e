#pragma once
// What engines share in answering operators' lists.

#include <cstdint>
#include <string>

#include "stet/store.hpp"
#include "stores/transition.hpp"

namespace stet::stores {

inline constexpr std::size_t kMostListed = 1000;  // records in a page

bool matches(const Filter& filter, const Held& held, const Now& now);

// A list shows that there is an answer, its status and its headers; `find` brings the body.
Record without_body(Record record);

// Cursors of engines that number their rows: the last row that was looked at. 0 when empty; throws
// StoreError{not_written} when it is no cursor of ours.
std::uint64_t row_of(const std::string& cursor);

}  // namespace stet::stores
