#include "stet/sqlite/session.hpp"

#include <algorithm>
#include <utility>

#include "core/digest.hpp"
#include "stores/listing.hpp"
#include "stores/messages.hpp"
#include "stores/sqlite/session/inside.hpp"
#include "stores/sqlite/session/sql_trouble.hpp"

namespace stet::sqlite {

using stores::Held;
using stores::Now;
using stores::sqlite::Numbered;
using stores::sqlite::SqlError;
using stores::sqlite::UnreadableRow;

namespace {

// Rows that one sweep takes up at the most: a moment of the database's one writer.
constexpr std::size_t kTakenUp = 50'000;

// The first claim of a key is one INSERT: the index decides, before anything is read. A lease of no length is
// none: a claim that is completed in its own transaction.
std::optional<Held> held_of(const Command& command, const Now& now) {
  if (!std::holds_alternative<command::Claim>(command)) return std::nullopt;
  Held held = stores::apply(command, std::nullopt, now).after;
  if (stores::lapsed(held, now)) held.lease_ends.reset();
  return held;
}

}  // namespace

Session::Session(sqlite3* borrowed)
    : inside_(std::make_unique<Inside>(borrowed, stores::Clocks::system(), stores::sqlite::present_boot(),
                                       std::make_shared<SweepGuard>())) {}
Session::Session(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Session::~Session() = default;

std::vector<Store::Outcome> Session::execute(std::span<const Command> batch) {
  std::vector<Outcome> outcomes;
  if (batch.empty()) return outcomes;
  inside_->refuse_outside_a_transaction();
  outcomes.reserve(batch.size());
  try {
    for (const Command& command : batch) {
      try {
        outcomes.emplace_back(inside_->one(command));
      } catch (const UnreadableRow& row) {
        outcomes.emplace_back(Failed{StoreFailure::corrupt, row.what()});
      }
    }
  } catch (const SqlError& error) {
    throw stores::sqlite::trouble(error);
  }
  return outcomes;
}

Result Session::Inside::one(const Command& command) {
  const Now now = stores::read(clocks_);
  if (const auto* sweep = std::get_if<command::Sweep>(&command)) return this->sweep(*sweep, now);
  const stores::Place place = stores::place_of(command);
  const OperationId id = OperationId::of(place.scope, place.key);
  auto& operations = tables().operations;
  if (const std::optional<Held> fresh = held_of(command, now); fresh && operations.insert(id, *fresh)) {
    return stores::apply(command, std::nullopt, now).result;
  }
  std::optional<Numbered> found = operations.load(id);
  if (found && (found->held.record.token.scope != place.scope || found->held.record.token.key != place.key)) {
    throw UnreadableRow("two keys have one operation id");
  }
  const std::int64_t row = found ? found->row : 0;
  stores::Transition t =
      stores::apply(command, found ? std::optional(std::move(found->held)) : std::nullopt, now);
  switch (t.change) {
    case stores::Change::none:
      break;
    case stores::Change::free:
      operations.remove(row);
      break;
    case stores::Change::lease:
      operations.update_lease({row, std::move(t.after)});
      break;
    case stores::Change::write:
      operations.update({row, std::move(t.after)});
      break;
  }
  return std::move(t.result);
}

Result Session::Inside::sweep(const command::Sweep& command, const Now& now) {
  result::Swept swept;
  {
    const std::lock_guard lock(guard_->mutex);
    swept.clock = guard_->wall.pass(now, command.clock);
  }
  if (swept.clock == result::SweepClock::jumped) return swept;
  auto& due = tables().due;
  due.take_up(now.wall, kTakenUp);
  while (swept.expired + swept.removed < command.limit) {
    const auto entries = due.due(now.wall, command.limit - swept.expired - swept.removed);
    if (entries.empty()) return swept;
    for (const auto& entry : entries) {
      due.remove(entry);
      if (const auto again = look_at(entry.row, now, swept)) due.insert(*again, entry.row);
    }
  }
  swept.more = command.limit > 0;
  return swept;
}

// When to look at the row again, if ever.
std::optional<std::int64_t> Session::Inside::look_at(std::int64_t row, const Now& now, result::Swept& swept) {
  auto& operations = tables().operations;
  std::optional<Numbered> found = operations.row(row);
  if (!found) return std::nullopt;
  Record& record = found->held.record;
  const bool is_due = record.expires_at && *record.expires_at <= now.wall;
  if (!is_due) return stores::sqlite::Due::next_look(record, now.wall);
  ++(record.state == State::completed ? swept.expired : swept.removed);
  std::optional<Record> rest = stores::swept(std::move(record), now.wall);
  if (!rest) {
    operations.remove(row);
    return std::nullopt;
  }
  operations.update({row, {*rest, std::nullopt}});
  return stores::sqlite::Due::next_look(*rest, now.wall);
}

std::optional<Record> Session::find(const OperationId& id) {
  try {
    const auto found = inside_->tables().operations.load(id);
    if (!found) return std::nullopt;
    return stores::shown_record(found->held, inside_->now());
  } catch (const UnreadableRow& row) {
    throw StoreError(StoreFailure::corrupt, row.what());
  } catch (const SqlError& error) {
    throw stores::sqlite::trouble(error);
  }
}

Page Session::list(const Filter& filter, std::size_t limit, const std::string& cursor) {
  using stores::sqlite::Operations;
  const std::size_t most = std::clamp<std::size_t>(limit, 1, stores::kMostListed);
  const bool pending = filter.state == State::pending || filter.lease == Filter::Lease::lapsed;
  const Now now = inside_->now();
  auto last = static_cast<std::int64_t>(stores::row_of(cursor));
  Page page;
  try {
    auto& operations = inside_->tables().operations;
    for (;;) {
      const auto rows = operations.after(last, stores::kMostListed,
                                         pending ? Operations::Which::pending : Operations::Which::all);
      if (rows.empty()) return page;
      for (const Numbered& row : rows) {
        if (stores::matches(filter, row.held, now)) {
          if (page.records.size() == most) {
            page.next = std::to_string(last);
            return page;
          }
          page.records.push_back(stores::without_body(stores::shown_record(row.held, now)));
        }
        last = row.row;
      }
    }
  } catch (const UnreadableRow& row) {
    throw StoreError(StoreFailure::corrupt, row.what());
  } catch (const SqlError& error) {
    throw stores::sqlite::trouble(error);
  }
}

std::string Session::emit(const Message& message) {
  inside_->refuse_outside_a_transaction();
  stores::must_fit(message);
  Nonce id = Nonce::random();  // as a UUID of version 4 (RFC 9562)
  id.bytes[6] = static_cast<std::uint8_t>((id.bytes[6] & 0x0f) | 0x40);
  id.bytes[8] = static_cast<std::uint8_t>((id.bytes[8] & 0x3f) | 0x80);
  try {
    inside_->tables().outbox.insert(id, message, inside_->now().wall);
  } catch (const SqlError& error) {
    throw stores::sqlite::trouble(error);
  }
  std::string text = to_hex(id.bytes);
  for (const std::size_t at : {20U, 16U, 12U, 8U}) text.insert(at, "-");
  return text;
}

Receipt Session::receive(std::string_view source, std::string_view event_id) {
  inside_->refuse_outside_a_transaction();
  stores::must_fit(source, event_id);
  try {
    return inside_->tables().inbox.insert(source, event_id, inside_->now().wall);
  } catch (const SqlError& error) {
    throw stores::sqlite::trouble(error);
  }
}

void Session::Inside::refuse_outside_a_transaction() const {
  if (database_.in_transaction()) return;
  throw StoreError(
      StoreFailure::not_written,
      "no transaction is open on this connection: begin one (BEGIN IMMEDIATE) before using its session");
}

// Prepared with the first use, when the tables are there.
Session::Inside::Tables& Session::Inside::tables() {
  if (!tables_) tables_ = std::make_unique<Tables>(database_, boot_);
  return *tables_;
}

}  // namespace stet::sqlite
