#include "stores/listing.hpp"

#include <charconv>

namespace stet::stores {

bool matches(const Filter& filter, const Held& held, const Now& now) {
  const Record& record = held.record;
  return (filter.lease == Filter::Lease::any || (record.state == State::pending && lapsed(held, now))) &&
         (!filter.state || *filter.state == record.state) &&
         (!filter.scope || *filter.scope == record.token.scope) &&
         (!filter.key || *filter.key == record.token.key) &&
         (!filter.created_before || record.created_at < *filter.created_before);
}

Record without_body(Record record) {
  if (record.answer) record.answer->body.clear();
  return record;
}

std::uint64_t row_of(const std::string& cursor) {
  std::uint64_t row = 0;
  if (cursor.empty()) return row;
  const char* const end = cursor.data() + cursor.size();
  const auto [stopped, error] = std::from_chars(cursor.data(), end, row);
  if (error != std::errc() || stopped != end || row > INT64_MAX) {
    throw StoreError(StoreFailure::not_written, "the cursor does not come from this store");
  }
  return row;
}

}  // namespace stet::stores
