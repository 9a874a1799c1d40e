#pragma once
// The query of GET /api/operations.

#include <string>
#include <string_view>

#include "stet/error.hpp"
#include "stet/store.hpp"

namespace stet::admin {

struct ListQuery {
  Filter filter;
  std::size_t limit = 100;  // 1 … 1,000
  std::string cursor;
};

// state, scope, key, created_before (RFC 3339), limit, cursor. Anything else is an error: a misspelt filter
// that is ignored lists what nobody asked for. The error is one sentence for the operator.
Expected<ListQuery, std::string> parse_list_query(std::string_view query);

}  // namespace stet::admin
