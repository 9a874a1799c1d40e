#include <algorithm>

#include "stores/sqlite/session/tables.hpp"

namespace stet::stores::sqlite {
namespace {

// How soon an open record is looked at again: late enough to cost nothing, soon enough for short retentions;
// and not at once where there is no retention, or one sweep would look at it for ever.
constexpr milliseconds kSoonest = std::chrono::seconds(1);
constexpr milliseconds kLookAgain = std::chrono::hours(1);

std::int64_t ms(WallTime time) {
  return time.time_since_epoch().count();
}

}  // namespace

Due::Due(Database& db)
    : fill_(db,
            "INSERT OR IGNORE INTO stet_due (at_ms, id) "
            "SELECT CASE WHEN state IN (1, 3) THEN expires_ms ELSE ?1 + min(ifnull(retention_ms, ?2), ?2) "
            "END, id "
            "FROM (SELECT id, state, expires_ms, retention_ms FROM stet_operations "
            "WHERE id > (SELECT swept_to FROM stet_schema) ORDER BY id LIMIT ?3) "
            "WHERE state NOT IN (1, 3) OR expires_ms IS NOT NULL"),
      filled_(db,
              "UPDATE stet_schema SET swept_to = ifnull((SELECT max(id) FROM (SELECT id FROM stet_operations "
              "WHERE id > swept_to ORDER BY id LIMIT ?1)), swept_to)"),
      due_(db, "SELECT at_ms, id FROM stet_due WHERE at_ms <= ?1 ORDER BY at_ms, id LIMIT ?2"),
      delete_(db, "DELETE FROM stet_due WHERE at_ms = ?1 AND id = ?2"),
      insert_(db, "INSERT OR IGNORE INTO stet_due (at_ms, id) VALUES (?1, ?2)") {}

void Due::take_up(WallTime now, std::size_t limit) {
  const auto rows = static_cast<std::int64_t>(limit);
  fill_.bind(1, ms(now)).bind(2, std::int64_t{kLookAgain.count()}).bind(3, rows).run();
  filled_.bind(1, rows).run();
}

std::vector<Due::Entry> Due::due(WallTime now, std::size_t limit) {
  const Rewind rewind(due_);
  due_.bind(1, ms(now)).bind(2, static_cast<std::int64_t>(limit));
  std::vector<Entry> entries;
  while (due_.step()) entries.push_back({due_.integer(0), due_.integer(1)});
  return entries;
}

void Due::remove(const Entry& entry) {
  delete_.bind(1, entry.at_ms).bind(2, entry.row).run();
}

void Due::insert(std::int64_t at_ms, std::int64_t row) {
  insert_.bind(1, at_ms).bind(2, row).run();
}

std::optional<std::int64_t> Due::next_look(const Record& record, WallTime now) {
  if (record.expires_at) return ms(*record.expires_at);
  if (record.state == State::completed || record.state == State::expired) return std::nullopt;
  return ms(now) + std::clamp(record.terms.retention, kSoonest, kLookAgain).count();
}

}  // namespace stet::stores::sqlite
