#include <fstream>
#include <utility>

#include "stores/header_bytes.hpp"
#include "stores/sqlite/fields.hpp"
#include "stores/sqlite/session/tables.hpp"

namespace stet::stores::sqlite {
namespace {

// In the order in which `read` reads them.
const std::string kColumns =
    "id, scope, key, nonce, attempt, state, maybe_executed, fingerprint, recipe, method, path, scope_rule, on_unknown, "
    "retention_ms, tombstone_ms, recovery_point, lease_boot, lease_ms, status, headers, body, kept, created_ms, "
    "expires_ms";

void put(Statement& statement, int parameter, const std::optional<WallTime>& time) {
  if (time) {
    statement.bind(parameter, std::int64_t{time->time_since_epoch().count()});
  } else {
    statement.bind_null(parameter);
  }
}

// NULL says forever, so that a query of yours need not know our greatest number.
void put(Statement& statement, int parameter, milliseconds span) {
  if (span == kForever) {
    statement.bind_null(parameter);
  } else {
    statement.bind(parameter, std::int64_t{span.count()});
  }
}

milliseconds span(const Statement& statement, int column) {
  return statement.is_null(column) ? kForever : milliseconds(statement.integer(column));
}

std::int64_t in_milliseconds(MonoTime time) {
  return std::chrono::ceil<milliseconds>(time.time_since_epoch()).count();
}

// A lease that is over leaves the boot, by which the index of pending rows knows that there once was one.
void bind_lease(Statement& statement, int parameter, const Held& held, const std::string& boot) {
  statement.bind(parameter, boot);
  if (held.lease_ends) {
    statement.bind(parameter + 1, in_milliseconds(*held.lease_ends));
  } else {
    statement.bind_null(parameter + 1);
  }
}

}  // namespace

const std::string& present_boot() {
  static const std::string boot = [] {
    std::string line;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> line;
    return line;
  }();
  return boot;
}

Operations::Operations(Database& db, std::string boot)
    : db_(db),
      boot_(std::move(boot)),
      insert_(db,
              "INSERT INTO stet_operations (operation, scope, key, nonce, attempt, state, maybe_executed, fingerprint, "
              "recipe, method, path, scope_rule, on_unknown, retention_ms, tombstone_ms, recovery_point, lease_boot, "
              "lease_ms, created_ms) VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, x'', ?14, "
              "?15, ?16) ON CONFLICT (operation) DO NOTHING"),
      select_(db, "SELECT " + kColumns + " FROM stet_operations WHERE operation = ?1"),
      update_(db,
              "UPDATE stet_operations SET nonce = ?2, attempt = ?3, state = ?4, maybe_executed = ?5, fingerprint = ?6, "
              "recipe = ?7, recovery_point = ?8, lease_boot = ?9, lease_ms = ?10, status = ?11, headers = ?12, "
              "body = ?13, kept = ?14, expires_ms = ?15 WHERE id = ?1"),
      update_lease_(db, "UPDATE stet_operations SET lease_boot = ?2, lease_ms = ?3 WHERE id = ?1"),
      delete_(db, "DELETE FROM stet_operations WHERE id = ?1"),
      step_back_(db,
                 "UPDATE stet_schema SET swept_to = ?1 - 1 WHERE swept_to >= ?1 AND NOT EXISTS "
                 "(SELECT 1 FROM stet_operations WHERE id > ?1)"),
      all_(db, "SELECT " + kColumns + " FROM stet_operations WHERE id > ?1 ORDER BY id LIMIT ?2"),
      pending_(db, "SELECT " + kColumns +
                       " FROM stet_operations WHERE state = 0 AND lease_boot IS NOT NULL AND id > ?1 ORDER BY id "
                       "LIMIT ?2"),
      row_(db, "SELECT " + kColumns + " FROM stet_operations WHERE id = ?1") {}

bool Operations::insert(const OperationId& id, const Held& held) {
  const Record& r = held.record;
  insert_.bind(1, view(id.bytes))
      .bind(2, r.token.scope)
      .bind(3, r.token.key)
      .bind(4, view(r.token.nonce.bytes))
      .bind(5, std::int64_t{r.token.attempt})
      .bind(6, view(r.fingerprint.digest))
      .bind(7, r.fingerprint.recipe)
      .bind(8, r.method)
      .bind(9, r.path)
      .bind(10, r.terms.scope_rule)
      .bind(11, static_cast<std::int64_t>(r.terms.on_unknown));
  put(insert_, 12, r.terms.retention);
  put(insert_, 13, r.terms.tombstone);
  if (held.lease_ends) {
    insert_.bind(14, boot_).bind(15, in_milliseconds(*held.lease_ends));
  } else {
    insert_.bind_null(14).bind_null(15);
  }
  put(insert_, 16, std::optional(r.created_at));
  insert_.run();
  return sqlite3_changes(db_.handle()) == 1;
}

std::optional<Numbered> Operations::load(const OperationId& id) {
  const Rewind rewind(select_);
  if (!select_.bind(1, view(id.bytes)).step()) return std::nullopt;
  return read(select_);
}

void Operations::update(const Numbered& numbered) {
  const Record& r = numbered.held.record;
  update_.bind(1, numbered.row)
      .bind(2, view(r.token.nonce.bytes))
      .bind(3, std::int64_t{r.token.attempt})
      .bind(4, static_cast<std::int64_t>(r.state))
      .bind(5, std::int64_t{r.maybe_executed})
      .bind(6, view(r.fingerprint.digest))
      .bind(7, r.fingerprint.recipe)
      .bind(8, r.recovery_point);
  bind_lease(update_, 9, numbered.held, boot_);
  std::string headers;
  if (r.answer) {
    headers = pack(r.answer->headers);
    update_.bind(11, std::int64_t{r.answer->status})
        .bind(12, headers)
        .bind(13, r.answer->body)
        .bind(14, static_cast<std::int64_t>(r.answer->kept));
  } else {
    update_.bind_null(11).bind_null(12).bind_null(13).bind_null(14);
  }
  put(update_, 15, r.expires_at);
  update_.run();
}

void Operations::update_lease(const Numbered& numbered) {
  update_lease_.bind(1, numbered.row);
  bind_lease(update_lease_, 2, numbered.held, boot_);
  update_lease_.run();
}

void Operations::remove(std::int64_t row) {
  delete_.bind(1, row).run();
  // The last row's number is given again: the sweep must not think that it has seen the next record with it.
  step_back_.bind(1, row).run();
}

std::vector<Numbered> Operations::after(std::int64_t row, std::size_t limit, Which which) {
  Statement& statement = which == Which::all ? all_ : pending_;
  statement.bind(1, row).bind(2, static_cast<std::int64_t>(limit));
  return read_all(statement);
}

std::optional<Numbered> Operations::row(std::int64_t row) {
  const Rewind rewind(row_);
  if (!row_.bind(1, row).step()) return std::nullopt;
  return read(row_);
}

std::vector<Numbered> Operations::read_all(Statement& statement) {
  const Rewind rewind(statement);
  std::vector<Numbered> rows;
  while (statement.step()) rows.push_back(read(statement));
  return rows;
}

Numbered Operations::read(Statement& s) const {
  Numbered numbered;
  numbered.row = s.integer(0);
  Record& r = numbered.held.record;
  r.token.scope = s.bytes(1);
  r.token.key = s.bytes(2);
  r.maybe_executed = s.integer(6) != 0;
  r.fingerprint.recipe = s.bytes(8);
  r.method = s.bytes(9);
  r.path = s.bytes(10);
  r.terms.scope_rule = s.bytes(11);
  r.terms.retention = span(s, 13);
  r.terms.tombstone = span(s, 14);
  r.recovery_point = s.bytes(15);
  if (s.bytes(16) == boot_ && !s.is_null(17)) numbered.held.lease_ends = MonoTime(milliseconds(s.integer(17)));
  r.created_at = WallTime(milliseconds(s.integer(22)));
  if (!s.is_null(23)) r.expires_at = WallTime(milliseconds(s.integer(23)));
  const ClaimFields fields{.state = s.integer(5),
                           .attempt = s.integer(4),
                           .on_unknown = s.integer(12),
                           .nonce = s.bytes(3),
                           .fingerprint = s.bytes(7)};
  bool whole = stores::sqlite::read(fields, r);
  if (whole && r.state == State::completed) {
    r.answer = read_answer(s.integer(18), s.integer(21), s.bytes(19));
    if (r.answer) r.answer->body = s.bytes(20);
    whole = r.answer.has_value();
  }
  if (!whole) throw UnreadableRow("row " + std::to_string(numbered.row) + " of stet_operations is out of its range");
  return numbered;
}

}  // namespace stet::stores::sqlite
