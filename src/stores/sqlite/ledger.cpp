#include "stores/sqlite/ledger.hpp"

#include <utility>

namespace stet::stores::sqlite {

Ledger::Ledger(Connection& connection, std::size_t cached_answers)
    : connection_(connection), rows_(connection.database()), answers_(cached_answers) {
  next_row_ = rows_.fill(state_.filling()) + 1;
}

template <class Same>
std::optional<Ledger::Found> Ledger::find(Tag tag, Same same) {
  std::optional<Found> found;
  state_.keys().any(tag, [&](Row row) {
    std::optional<Record> record = rows_.load(row);
    if (!record) throw CorruptRow("row " + std::to_string(row) + ": the claim is missing");
    if (!same(*record)) return false;
    found = Found{row, tag, {*std::move(record), state_.lease(row)}};
    return true;
  });
  return found;
}

std::optional<Ledger::Found> Ledger::find(const Place& place) {
  return find(tag_of(OperationId::of(place.scope, place.key)),
              [&](const Record& r) { return r.token.scope == place.scope && r.token.key == place.key; });
}

std::optional<Ledger::Found> Ledger::find(const OperationId& id) {
  return find(tag_of(id), [&](const Record& r) { return r.id() == id; });
}

std::optional<Ledger::Found> Ledger::at(Row row) {
  std::optional<Record> record = rows_.load(row);
  if (!record) return std::nullopt;
  return Found{row, tag_of(record->id()), {*std::move(record), state_.lease(row)}};
}

Answer Ledger::answer(const Found& found, WithBody body) {
  return rows_.load_answer(found.row, found.held.record, body);
}

void Ledger::change(const std::optional<Found>& found, Transition& t) {
  if (std::holds_alternative<result::Replay>(t.result))
    after_commit_.push_back(Keep{std::move(t.after.record)});
  if (t.change == Change::none) return;
  if (t.change == Change::lease) {
    state_.set_lease(found->row, t.after.lease_ends);
    return;
  }
  connection_.begin();
  if (!found) {
    insert(t.after);
    return;
  }
  if (t.change == Change::free) {
    remove(found->row, found->tag);
    return;
  }
  rows_.update(found->row, t.after.record);
  state_.set_lease(found->row, t.after.lease_ends);
  if (t.after.record.state != State::completed) return;
  rows_.put_answer(found->row, t.after.record);
  if (t.after.record.expires_at) rows_.add_due({*t.after.record.expires_at, found->row});
  after_commit_.push_back(Keep{std::move(t.after.record)});
}

void Ledger::insert(const Held& held) {
  const Row row = next_row_++;
  const Tag tag = tag_of(held.record.id());
  rows_.insert(row, tag, held.record);
  state_.add_key(tag, row);
  state_.set_lease(row, held.lease_ends);
}

void Ledger::remove(Row row, Tag tag) {
  rows_.remove(row);
  state_.remove_key(tag, row);
  state_.set_lease(row, std::nullopt);
}

result::Swept Ledger::sweep(std::size_t limit, const Now& now) {
  result::Swept swept;
  const auto all_due = rows_.due(now.wall, limit);
  swept.more = limit > 0 && all_due.size() == limit;
  for (const Rows::Due& due : all_due) {
    connection_.begin();
    rows_.drop_due(due);
    try {
      sweep_row(due, now, swept);
    } catch (const CorruptRow& error) {
      // It stays, so that its key stays excluded; it is no longer due, so that the others get their turn.
      connection_.notice("a damaged record was left where it is: " + std::string(error.what()));
    }
  }
  return swept;
}

void Ledger::sweep_row(const Rows::Due& due, const Now& now, result::Swept& swept) {
  std::optional<Record> record = rows_.load(due.row);
  if (!record || !record->expires_at) return;
  if (*record->expires_at != due.at) {  // the list of what is due was damaged; the record is what counts
    rows_.add_due({*record->expires_at, due.row});
    return;
  }
  const OperationId id = record->id();
  const bool completed = record->state == State::completed;
  if (completed) {
    rows_.drop_answer(due.row);
    after_commit_.push_back(Drop{id});
  }
  ++(completed ? swept.expired : swept.removed);
  const std::optional<Record> rest = stores::swept(*std::move(record), now.wall);
  if (!rest) {
    remove(due.row, tag_of(id));
    return;
  }
  rows_.update(due.row, *rest);
  if (rest->expires_at) rows_.add_due({*rest->expires_at, due.row});
}

void Ledger::committed() noexcept {
  state_.keep();
  for (auto& step : after_commit_) {
    if (const auto* drop = std::get_if<Drop>(&step)) {
      answers_.drop(drop->id);
      continue;
    }
    try {
      answers_.keep(std::get<Keep>(std::move(step)).completed);
    } catch (const std::bad_alloc&) {  // then this answer is read from the file
    }
  }
  after_commit_.clear();
}

void Ledger::rolled_back() {
  state_.undo();
  after_commit_.clear();
}

}  // namespace stet::stores::sqlite
