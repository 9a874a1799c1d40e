#include "stores/memory/memory_store.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "stores/listing.hpp"
#include "stores/transition.hpp"
#include "stores/wall_guard.hpp"

namespace stet::stores {
namespace {

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(Clocks clocks) : clocks_(std::move(clocks)) {}

  std::vector<Outcome> execute(std::span<const Command> batch) override {
    std::vector<Outcome> outcomes;
    outcomes.reserve(batch.size());
    for (const Command& command : batch) {
      const Now now = stores::read(clocks_);
      if (const auto* sweep = std::get_if<command::Sweep>(&command)) {
        outcomes.emplace_back(this->sweep(*sweep, now));
      } else {
        outcomes.emplace_back(one(command, now));
      }
    }
    return outcomes;
  }

  std::optional<Record> find(const OperationId& id) override {
    const auto at = rows_by_id_.find(id);
    if (at == rows_by_id_.end()) return std::nullopt;
    return shown_record(rows_.at(at->second), stores::read(clocks_));
  }

  Page list(const Filter& filter, std::size_t limit, const std::string& cursor) override {
    const Now now = stores::read(clocks_);
    Page page;
    for (auto row = rows_.upper_bound(row_of(cursor)); row != rows_.end(); ++row) {
      if (!matches(filter, row->second, now)) continue;
      if (page.records.size() == std::clamp<std::size_t>(limit, 1, kMostListed)) {
        page.next = std::to_string(std::prev(row)->first);
        break;
      }
      page.records.push_back(without_body(shown_record(row->second, now)));
    }
    return page;
  }

 private:
  using Row = std::uint64_t;  // in the order of the first claims

  Result one(const Command& command, const Now& now) {
    const Place place = place_of(command);
    const OperationId id = OperationId::of(place.scope, place.key);
    const auto at = rows_by_id_.find(id);
    const bool known = at != rows_by_id_.end();
    const Row row = known ? at->second : next_row_;
    Transition t = apply(command, known ? std::optional(rows_.at(row)) : std::nullopt, now);
    switch (t.change) {
      case Change::none:
        break;
      case Change::free:
        forget(row);
        break;
      case Change::lease:
      case Change::write:
        if (!known) {
          rows_by_id_.emplace(id, row);
          ++next_row_;
        }
        put(row, std::move(t.after));
        break;
    }
    return std::move(t.result);
  }

  void put(Row row, Held held) {
    no_longer_due(row);
    if (held.record.expires_at) due_.emplace(*held.record.expires_at, row);
    rows_.insert_or_assign(row, std::move(held));
  }

  void forget(Row row) {
    no_longer_due(row);
    rows_by_id_.erase(rows_.at(row).record.id());
    rows_.erase(row);
  }

  void no_longer_due(Row row) {
    const auto held = rows_.find(row);
    if (held != rows_.end() && held->second.record.expires_at)
      due_.erase({*held->second.record.expires_at, row});
  }

  Result sweep(const command::Sweep& command, const Now& now) {
    result::Swept swept;
    swept.clock = guard_.pass(now, command.clock);
    if (swept.clock == result::SweepClock::jumped) return swept;
    while (swept.expired + swept.removed < command.limit && !due_.empty() &&
           due_.begin()->first <= now.wall) {
      const Row row = due_.begin()->second;
      Held held = rows_.at(row);
      ++(held.record.state == State::completed ? swept.expired : swept.removed);
      std::optional<Record> rest = stores::swept(std::move(held.record), now.wall);
      if (rest) {
        put(row, {*std::move(rest), std::nullopt});
      } else {
        forget(row);
      }
    }
    swept.more = command.limit > 0 && swept.expired + swept.removed == command.limit;
    return swept;
  }

  const Clocks clocks_;
  WallGuard guard_;
  Row next_row_ = 1;
  std::map<Row, Held> rows_;
  std::map<OperationId, Row> rows_by_id_;
  std::set<std::pair<WallTime, Row>> due_;
};

}  // namespace

std::unique_ptr<Store> make_memory_store(Clocks clocks) {
  return std::make_unique<MemoryStore>(std::move(clocks));
}

}  // namespace stet::stores
