#include "stores/sqlite/rows.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/digest.hpp"
#include "stores/header_bytes.hpp"
#include "stores/sqlite/fields.hpp"

namespace stet::stores::sqlite {
namespace {

using Checksum = std::array<char, 16>;

Checksum cut(const Digest& digest) {
  Checksum checksum;
  std::memcpy(checksum.data(), digest.data(), checksum.size());
  return checksum;
}

// In the order in which `insert` binds and `load` reads them.
const std::string kClaim =
    "row, scope, key, state, nonce, attempt, maybe_executed, fingerprint, recipe, method, path, scope_rule, "
    "on_unknown, "
    "retention_ms, tombstone_ms, recovery_point, created_ms, expires_ms, checksum";

constexpr std::int64_t kNever = INT64_MAX;

std::int64_t ms(WallTime time) {
  return time.time_since_epoch().count();
}
std::int64_t ms(const std::optional<WallTime>& time) {
  return time ? ms(*time) : kNever;
}

// Over everything that decides who owns the row, what it excludes and for how long, and over where it stands,
// so that neither flipped bytes nor a row copied over another pass.
Checksum checksum_of(Row row, const Record& r) {
  const std::array<std::int64_t, 9> numbers{row,
                                            static_cast<std::int64_t>(r.state),
                                            r.token.attempt,
                                            r.maybe_executed ? 1 : 0,
                                            static_cast<std::int64_t>(r.terms.on_unknown),
                                            r.terms.retention.count(),
                                            r.terms.tombstone.count(),
                                            ms(r.created_at),
                                            ms(r.expires_at)};
  return cut(sha256_parts({view(numbers), r.token.scope, r.token.key, view(r.token.nonce.bytes),
                           view(r.fingerprint.digest), r.fingerprint.recipe, r.method, r.path,
                           r.terms.scope_rule, r.recovery_point}));
}

// The answer is bound to its operation and to the request that it answers.
Checksum checksum_of(Row row, const Record& r, const Answer& answer, std::string_view headers) {
  const std::array<std::int64_t, 3> numbers{row, answer.status, static_cast<std::int64_t>(answer.kept)};
  return cut(sha256_parts(
      {view(numbers), r.token.scope, r.token.key, view(r.fingerprint.digest), headers, answer.body}));
}

std::int64_t guard_of(Row row, Tag tag) {
  std::uint64_t mixed = tag ^ (static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15U);
  mixed = (mixed ^ (mixed >> 31)) * 0xbf58476d1ce4e5b9U;
  return static_cast<std::int64_t>(mixed >> 33);  // 31 bits: four bytes in the file
}

[[noreturn]] void corrupt(Row row, std::string_view what) {
  throw CorruptRow("row " + std::to_string(row) + ": " + std::string(what));
}

}  // namespace

Tag tag_of(const OperationId& id) {
  Tag tag = 0;
  for (std::size_t i = 0; i < sizeof tag; ++i) tag = tag << 8 | id.bytes[i];
  return tag;
}

Rows::Rows(Database& db)
    : insert_claim_(db,
                    "INSERT INTO claims (" + kClaim +
                        ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
                        "?17, ?18, ?19)"),
      insert_key_(db, "INSERT INTO keys (row, tag, guard) VALUES (?1, ?2, ?3)"),
      update_(
          db,
          "UPDATE claims SET state = ?2, nonce = ?3, attempt = ?4, maybe_executed = ?5, fingerprint = ?6, "
          "recipe = ?7, recovery_point = ?8, expires_ms = ?9, checksum = ?10 WHERE row = ?1"),
      delete_claim_(db, "DELETE FROM claims WHERE row = ?1"),
      delete_key_(db, "DELETE FROM keys WHERE row = ?1"),
      insert_answer_(
          db,
          "INSERT INTO answers (row, status, kept, checksum, headers, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"),
      delete_answer_(db, "DELETE FROM answers WHERE row = ?1"),
      select_(db, "SELECT " + kClaim + " FROM claims WHERE row = ?1"),
      select_answer_(db, "SELECT status, kept, checksum, headers, body FROM answers WHERE row = ?1"),
      select_due_(db, "SELECT at_ms, row FROM due WHERE at_ms <= ?1 ORDER BY at_ms, row LIMIT ?2"),
      insert_due_(db, "INSERT OR IGNORE INTO due (at_ms, row) VALUES (?1, ?2)"),
      delete_due_(db, "DELETE FROM due WHERE at_ms = ?1 AND row = ?2"),
      scan_(db, "SELECT row FROM claims WHERE row > ?1 ORDER BY row LIMIT ?2"),
      scan_open_(
          db,
          "SELECT row FROM claims INDEXED BY claims_open WHERE state IN (0, 2) AND state = ?3 AND row > ?1 "
          "ORDER BY row LIMIT ?2"),
      keys_(db, "SELECT row, tag, guard FROM keys ORDER BY row") {}

void Rows::insert(Row row, Tag tag, const Record& r) {
  const Checksum checksum = checksum_of(row, r);
  insert_claim_.bind(1, row)
      .bind(2, r.token.scope)
      .bind(3, r.token.key)
      .bind(4, static_cast<std::int64_t>(r.state))
      .bind(5, view(r.token.nonce.bytes))
      .bind(6, std::int64_t{r.token.attempt})
      .bind(7, std::int64_t{r.maybe_executed})
      .bind(8, view(r.fingerprint.digest))
      .bind(9, r.fingerprint.recipe)
      .bind(10, r.method)
      .bind(11, r.path)
      .bind(12, r.terms.scope_rule)
      .bind(13, static_cast<std::int64_t>(r.terms.on_unknown))
      .bind(14, std::int64_t{r.terms.retention.count()})
      .bind(15, std::int64_t{r.terms.tombstone.count()})
      .bind(16, r.recovery_point)
      .bind(17, ms(r.created_at))
      .bind_null(18)
      .bind(19, view(checksum))
      .run();
  insert_key_.bind(1, row).bind(2, static_cast<std::int64_t>(tag)).bind(3, guard_of(row, tag)).run();
}

void Rows::update(Row row, const Record& r) {
  const Checksum checksum = checksum_of(row, r);
  update_.bind(1, row)
      .bind(2, static_cast<std::int64_t>(r.state))
      .bind(3, view(r.token.nonce.bytes))
      .bind(4, std::int64_t{r.token.attempt})
      .bind(5, std::int64_t{r.maybe_executed})
      .bind(6, view(r.fingerprint.digest))
      .bind(7, r.fingerprint.recipe)
      .bind(8, r.recovery_point)
      .bind(10, view(checksum));
  if (r.expires_at) {
    update_.bind(9, ms(*r.expires_at));
  } else {
    update_.bind_null(9);
  }
  update_.run();
}

void Rows::remove(Row row) {
  delete_claim_.bind(1, row).run();
  delete_key_.bind(1, row).run();
}

void Rows::put_answer(Row row, const Record& r) {
  const Answer& answer = r.answer.value();
  const std::string headers = pack(answer.headers);
  const Checksum checksum = checksum_of(row, r, answer, headers);
  insert_answer_.bind(1, row)
      .bind(2, std::int64_t{answer.status})
      .bind(3, static_cast<std::int64_t>(answer.kept))
      .bind(4, view(checksum))
      .bind(5, headers)
      .bind(6, answer.body)
      .run();
}

void Rows::drop_answer(Row row) {
  delete_answer_.bind(1, row).run();
}

std::optional<Record> Rows::load(Row row) {
  const Rewind rewind(select_);
  if (!select_.bind(1, row).step()) return std::nullopt;
  Record r;
  r.token.scope = select_.bytes(1);
  r.token.key = select_.bytes(2);
  r.maybe_executed = select_.integer(6) != 0;
  r.fingerprint.recipe = select_.bytes(8);
  r.method = select_.bytes(9);
  r.path = select_.bytes(10);
  r.terms.scope_rule = select_.bytes(11);
  r.terms.retention = milliseconds(select_.integer(13));
  r.terms.tombstone = milliseconds(select_.integer(14));
  r.recovery_point = select_.bytes(15);
  r.created_at = WallTime(milliseconds(select_.integer(16)));
  if (!select_.is_null(17)) r.expires_at = WallTime(milliseconds(select_.integer(17)));
  const ClaimFields fields{.state = select_.integer(3),
                           .attempt = select_.integer(5),
                           .on_unknown = select_.integer(12),
                           .nonce = select_.bytes(4),
                           .fingerprint = select_.bytes(7)};
  if (!read(fields, r)) corrupt(row, "a field of the claim is out of its range");
  const Checksum checksum = checksum_of(row, r);
  if (select_.bytes(18) != view(checksum)) corrupt(row, "the claim's checksum does not fit");
  return r;
}

Answer Rows::load_answer(Row row, const Record& r, WithBody body) {
  const Rewind rewind(select_answer_);
  if (!select_answer_.bind(1, row).step()) corrupt(row, "completed, and its answer is missing");
  const std::string_view packed = select_answer_.bytes(3);
  std::optional<Answer> answer = read_answer(select_answer_.integer(0), select_answer_.integer(1), packed);
  if (!answer) corrupt(row, "a field of the answer is out of its range");
  if (body == WithBody::no) return *std::move(answer);
  answer->body = select_answer_.bytes(4);
  const Checksum checksum = checksum_of(row, r, *answer, packed);
  if (select_answer_.bytes(2) != view(checksum)) corrupt(row, "the answer's checksum does not fit");
  return *std::move(answer);
}

std::vector<Rows::Due> Rows::due(WallTime until, std::size_t limit) {
  const Rewind rewind(select_due_);
  select_due_.bind(1, ms(until)).bind(2, static_cast<std::int64_t>(std::min<std::size_t>(limit, INT32_MAX)));
  std::vector<Due> due;
  while (select_due_.step())
    due.push_back({WallTime(milliseconds(select_due_.integer(0))), select_due_.integer(1)});
  return due;
}

void Rows::add_due(const Due& due) {
  insert_due_.bind(1, ms(due.at)).bind(2, due.row).run();
}
void Rows::drop_due(const Due& due) {
  delete_due_.bind(1, ms(due.at)).bind(2, due.row).run();
}

std::vector<Row> Rows::scan(Row after, std::optional<State> state, std::size_t limit) {
  const bool indexed = state == State::pending || state == State::unknown;
  Statement& statement = indexed ? scan_open_ : scan_;
  const Rewind rewind(statement);
  statement.bind(1, after).bind(2, static_cast<std::int64_t>(limit));
  if (indexed) statement.bind(3, static_cast<std::int64_t>(*state));
  std::vector<Row> rows;
  while (statement.step()) rows.push_back(statement.integer(0));
  return rows;
}

Row Rows::fill(KeyIndex& index) {
  const Rewind rewind(keys_);
  Row greatest = 0;
  while (keys_.step()) {
    const Row row = keys_.integer(0);
    auto tag = static_cast<Tag>(keys_.integer(1));
    if (keys_.integer(2) != guard_of(row, tag)) {
      const std::optional<Record> record = load(row);
      if (!record) corrupt(row, "the key's tag is damaged, and its claim is missing");
      tag = tag_of(record->id());
    }
    index.add(tag, row);
    greatest = std::max(greatest, row);
  }
  return greatest;
}

}  // namespace stet::stores::sqlite
