#include "stores/postgres/listing_sql.hpp"

#include <charconv>

#include "stores/postgres/rows.hpp"

namespace stet::stores::postgres {
namespace {

// After which record the page begins, in the order of the claims: microseconds of the claim, a dot, the
// operation's id.
struct After {
  std::int64_t claimed_us = 0;
  OperationId id;
};

std::optional<After> parse(const std::string& cursor) {
  const std::size_t dot = cursor.find('.');
  if (dot == cursor.npos) return std::nullopt;
  After after;
  const char* const end = cursor.data() + dot;
  const auto [stopped, error] = std::from_chars(cursor.data(), end, after.claimed_us);
  const auto id = OperationId::parse(std::string_view(cursor).substr(dot + 1));
  if (error != std::errc() || stopped != end || !id) return std::nullopt;
  after.id = *id;
  return after;
}

}  // namespace

std::optional<Record> record_of(const PGresult* found) {
  if (PQntuples(found) == 0) return std::nullopt;
  return Row(found, 0).record();
}

Parameters list_parameters(const Filter& filter, std::size_t limit, const std::string& cursor) {
  std::optional<After> after;
  if (!cursor.empty()) {
    after = parse(cursor);
    if (!after) throw StoreError(StoreFailure::not_written, "the cursor does not come from this store");
  }
  Parameters p;
  filter.state ? p.add(static_cast<std::int16_t>(*filter.state)) : p.add_null(Type::int2);
  filter.scope ? p.add_bytes(*filter.scope) : p.add_null(Type::bytea);
  filter.key ? p.add_bytes(*filter.key) : p.add_null(Type::bytea);
  filter.created_before ? p.add(static_cast<std::int64_t>(filter.created_before->time_since_epoch().count()))
                        : p.add_null(Type::int8);
  p.add(filter.lease == Filter::Lease::lapsed);
  p.add(static_cast<std::int32_t>(limit));
  after ? p.add(after->claimed_us) : p.add_null(Type::int8);
  after ? p.add_uuid(after->id.bytes) : p.add_null(Type::uuid);
  return p;
}

Page page_of(const PGresult* found, std::size_t limit,
             const std::function<void(const std::string&)>& damaged) {
  Page page;
  const int rows = PQntuples(found);
  for (int i = 0; i < rows; ++i) {
    const Row row(found, i);
    try {
      page.records.push_back(row.record());
    } catch (const BadRow& bad) {
      damaged(bad.what);
    }
  }
  if (static_cast<std::size_t>(rows) < limit) return page;
  const Row last(found, rows - 1);
  const auto id = last.opt_uuid("id");
  if (id) page.next = std::to_string(last.integer("created_at_us")) + "." + OperationId{*id}.text();
  return page;
}

}  // namespace stet::stores::postgres
