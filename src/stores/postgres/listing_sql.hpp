#pragma once
// stet.find and stet.list: what is asked, and what their rows say.

#include <functional>
#include <optional>
#include <string>

#include "stet/store.hpp"
#include "stores/postgres/arrays.hpp"
#include "stores/postgres/query.hpp"

namespace stet::stores::postgres {

inline constexpr const char* kFind = "SELECT * FROM stet.find($1)";
inline constexpr const char* kList = "SELECT * FROM stet.list($1,$2,$3,$4,$5,$6,$7,$8)";

// Nothing when there is no row. Throws BadRow.
std::optional<Record> record_of(const PGresult* found);

// Throws StoreError{not_written} when the cursor is none of ours.
Parameters list_parameters(const Filter& filter, std::size_t limit, const std::string& cursor);

// Rows that cannot be read are left out and told to `damaged`.
Page page_of(const PGresult* found, std::size_t limit,
             const std::function<void(const std::string&)>& damaged);

}  // namespace stet::stores::postgres
