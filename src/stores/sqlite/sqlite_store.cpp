#include "stores/sqlite/sqlite_store.hpp"

#include <algorithm>
#include <utility>

#include "stores/listing.hpp"
#include "stores/sqlite/answer_cache.hpp"
#include "stores/sqlite/connection.hpp"
#include "stores/sqlite/file_lock.hpp"
#include "stores/sqlite/rows.hpp"
#include "stores/sqlite/session_state.hpp"
#include "stores/transition.hpp"
#include "stores/wall_guard.hpp"

namespace stet::stores::sqlite {
namespace {

// Rows that one slice of a list looks at: some milliseconds.
constexpr std::size_t kVisited = 2000;

class SqliteStore final : public Store {
 public:
  SqliteStore(const std::string& path, Options options)
      : options_(std::move(options)),
        lock_(path),
        room_(path, options_.free_space_floor, options_.ballast,
              options_.probe_space ? options_.probe_space : probe_directory_of(path)),
        connection_(path, options_, room_),
        rows_(connection_.database()),
        answers_(options_.cached_answers) {
    next_row_ = rows_.fill(state_.filling()) + 1;
    room_.restore_ballast(options_.clocks.mono());
  }

  std::vector<Outcome> execute(std::span<const Command> batch) override {
    connection_.refuse_if_broken();
    room_.restore_ballast(options_.clocks.mono());
    refuse_claims_ = false;
    try {
      return unit(batch);
    } catch (const SqlError& error) {
      roll_back();
      if (!concerns_one_command(error)) throw connection_.store_error(error);
      refuse_claims_ = error.code() == SQLITE_FULL;
    }
    return one_by_one(batch);
  }

  std::optional<Result> peek(const command::Claim& claim) noexcept override {
    try {
      return answers_.replay(claim);
    } catch (...) {  // no memory: the store thread may have some later
      return std::nullopt;
    }
  }

  std::optional<Record> find(const OperationId& id) override {
    return reading([&]() -> std::optional<Record> {
      const auto found = locate(tag_of(id), [&](const Record& r) { return r.id() == id; });
      if (!found) return std::nullopt;
      return show(found->row, found->record, WithBody::yes);
    });
  }

  Page list(const Filter& filter, std::size_t limit, const std::string& cursor) override {
    return reading([&] { return page(filter, std::clamp<std::size_t>(limit, 1, kMostListed), cursor); });
  }

 private:
  struct Located {
    Row row;
    Record record;
  };

  // ---- a batch ----

  std::vector<Outcome> unit(std::span<const Command> batch) {
    guard_before_ = guard_;
    room_for_claims_.reset();
    std::vector<Outcome> outcomes;
    outcomes.reserve(batch.size());
    for (const Command& command : batch) outcomes.push_back(one(command));
    connection_.commit();
    state_.keep();
    publish();
    connection_.checkpoint_when_long();
    return outcomes;
  }

  // After a batch met a full disk or a damaged page: that is the trouble of some commands and not of the
  // others.
  std::vector<Outcome> one_by_one(std::span<const Command> batch) {
    std::vector<Outcome> outcomes;
    outcomes.reserve(batch.size());
    for (const Command& command : batch) outcomes.push_back(alone(command));
    return outcomes;
  }

  Outcome alone(const Command& command) {
    for (;;) {
      try {
        return unit({&command, 1}).front();
      } catch (const SqlError& error) {
        roll_back();
        if (error.code() == SQLITE_FULL && ends_work(command) && make_room()) continue;
        const StoreError failure = connection_.store_error(error);
        return Failed{failure.kind(), failure.what()};
      }
    }
  }

  // Gives the ballast up. False: there was none (any more).
  bool make_room() {
    if (!room_.give_up_ballast()) return false;
    connection_.notice(
        "the disk is full: the ballast was given up, so that running operations can be completed");
    connection_.checkpoint();
    return true;
  }

  static bool concerns_one_command(const SqlError& error) {
    return error.code() == SQLITE_FULL || error.code() == SQLITE_CORRUPT ||
           error.code() == SQLITE_CONSTRAINT || is_read_error(error);
  }

  void roll_back() {
    connection_.roll_back();
    state_.undo();
    after_commit_.clear();
    guard_ = guard_before_;
  }

  Outcome one(const Command& command) {
    try {
      if (const auto* sweep = std::get_if<command::Sweep>(&command)) return this->sweep(*sweep);
      return judge(command);
    } catch (const CorruptRow& error) {
      return Failed{StoreFailure::corrupt, error.what()};
    }
  }

  Outcome judge(const Command& command) {
    const Now now = read(options_.clocks);
    const Place place = place_of(command);
    const Tag tag = tag_of(OperationId::of(place.scope, place.key));
    std::optional<Located> found = locate(
        tag, [&](const Record& r) { return r.token.scope == place.scope && r.token.key == place.key; });
    std::optional<Held> held;
    if (found) {
      if (wants_answer(command, found->record)) {
        found->record.answer = rows_.load_answer(found->row, found->record, WithBody::yes);
      }
      held = Held{std::move(found->record), state_.lease(found->row)};
    }
    Transition t = apply(command, held, now);
    if (t.change == Change::write && grants_work(command) && !room_for_claims()) {
      return Failed{StoreFailure::full, "too little room is left on the disk for new operations"};
    }
    if (found) {
      change(found->row, tag, *held, t);
    } else if (t.change == Change::write) {
      insert(tag, t.after);
    }
    if (held && std::holds_alternative<result::Replay>(t.result)) after_commit_.push_back(Keep{held->record});
    return std::move(t.result);
  }

  // What the ballast is for: a claim or a sweep can wait until there is room again.
  static bool ends_work(const Command& command) {
    return !grants_work(command) && !std::holds_alternative<command::Sweep>(command);
  }

  // Asked of the disk once a unit: a batch is small against any floor.
  bool room_for_claims() {
    if (!room_for_claims_) room_for_claims_ = !refuse_claims_ && room_.for_claims();
    return *room_for_claims_;
  }

  static bool grants_work(const Command& command) {
    return std::holds_alternative<command::Claim>(command) ||
           std::holds_alternative<command::TakeOver>(command);
  }

  static bool wants_answer(const Command& command, const Record& record) {
    if (record.state != State::completed) return false;
    if (const auto* claim = std::get_if<command::Claim>(&command))
      return claim->fingerprint == record.fingerprint;
    return std::holds_alternative<command::Complete>(command) ||
           std::holds_alternative<command::Settle>(command);
  }

  void insert(Tag tag, const Held& held) {
    connection_.begin();
    const Row row = next_row_++;
    rows_.insert(row, tag, held.record);
    state_.add_key(tag, row);
    state_.set_lease(row, held.lease_ends);
  }

  void change(Row row, Tag tag, const Held& before, const Transition& t) {
    switch (t.change) {
      case Change::none:
        return;
      case Change::lease:
        state_.set_lease(row, t.after.lease_ends);
        return;
      case Change::free:
        connection_.begin();
        remove(row, tag);
        return;
      case Change::write:
        break;
    }
    connection_.begin();
    rows_.update(row, t.after.record);
    state_.set_lease(row, t.after.lease_ends);
    if (before.record.state == State::completed || t.after.record.state != State::completed) return;
    rows_.put_answer(row, t.after.record);
    if (t.after.record.expires_at) rows_.add_due({*t.after.record.expires_at, row});
    after_commit_.push_back(Keep{t.after.record});
  }

  void remove(Row row, Tag tag) {
    rows_.remove(row);
    state_.remove_key(tag, row);
    state_.set_lease(row, std::nullopt);
  }

  // ---- sweeping ----

  Outcome sweep(const command::Sweep& command) {
    const Now now = read(options_.clocks);
    result::Swept swept;
    swept.clock = guard_.pass(now, command.clock);
    if (swept.clock == result::SweepClock::jumped) return swept;
    for (const Rows::Due& due : rows_.due(now.wall, command.limit)) {
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

  void sweep_row(const Rows::Due& due, const Now& now, result::Swept& swept) {
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

  // ---- what other threads may see, once it is durable ----

  struct Keep {
    Record record;
  };
  struct Drop {
    OperationId id;
  };

  void publish() {
    struct Publish {
      AnswerCache& answers;
      void operator()(const Keep& keep) const { answers.keep(keep.record); }
      void operator()(const Drop& drop) const { answers.drop(drop.id); }
    };
    for (const auto& step : after_commit_) std::visit(Publish{answers_}, step);
    after_commit_.clear();
  }

  // ---- reading ----

  template <class Same>
  std::optional<Located> locate(Tag tag, Same same) {
    std::optional<Located> found;
    state_.keys().any(tag, [&](Row row) {
      std::optional<Record> record = rows_.load(row);
      if (!record) throw CorruptRow("row " + std::to_string(row) + ": the claim is missing");
      if (!same(*record)) return false;
      found = Located{row, *std::move(record)};
      return true;
    });
    return found;
  }

  Record show(Row row, Record record, WithBody body) {
    if (record.state == State::completed) record.answer = rows_.load_answer(row, record, body);
    return shown_record({std::move(record), state_.lease(row)}, read(options_.clocks));
  }

  Page page(const Filter& filter, std::size_t limit, const std::string& cursor) {
    if (filter.scope && filter.key) return single(filter, cursor);
    Page page;
    const std::vector<Row> rows = rows_.scan(static_cast<Row>(row_of(cursor)), filter.state, kVisited);
    for (const Row row : rows) {
      page.next = std::to_string(row);
      add_if_matching(row, filter, page);
      if (page.records.size() == limit) break;
    }
    const bool at_end = rows.size() < kVisited && (rows.empty() || page.next == std::to_string(rows.back()));
    if (at_end) page.next.clear();
    return page;
  }

  void add_if_matching(Row row, const Filter& filter, Page& page) {
    try {
      std::optional<Record> record = rows_.load(row);
      if (record && matches(filter, *record))
        page.records.push_back(show(row, *std::move(record), WithBody::no));
    } catch (const CorruptRow& error) {
      connection_.notice("a damaged record is not listed: " + std::string(error.what()));
    }
  }

  Page single(const Filter& filter, const std::string& cursor) {
    Page page;
    if (!cursor.empty()) return page;
    const auto found = locate(tag_of(OperationId::of(*filter.scope, *filter.key)), [&](const Record& r) {
      return r.token.scope == *filter.scope && r.token.key == *filter.key;
    });
    if (found && matches(filter, found->record)) {
      page.records.push_back(show(found->row, found->record, WithBody::no));
    }
    return page;
  }

  template <class Read>
  auto reading(Read read) -> decltype(read()) {
    connection_.refuse_if_broken();
    try {
      return read();
    } catch (const SqlError& error) {
      throw StoreError(error.code() == SQLITE_CORRUPT ? StoreFailure::corrupt : StoreFailure::unavailable,
                       error.what());
    } catch (const CorruptRow& error) {
      throw StoreError(StoreFailure::corrupt, error.what());
    }
  }

  const Options options_;
  const FileLock lock_;
  Room room_;
  Connection connection_;
  Rows rows_;
  SessionState state_;
  AnswerCache answers_;
  WallGuard guard_;
  WallGuard guard_before_;
  Row next_row_ = 1;
  bool refuse_claims_ = false;
  std::optional<bool> room_for_claims_;
  std::vector<std::variant<Keep, Drop>> after_commit_;
};

}  // namespace

std::unique_ptr<Store> open(const std::string& path, Options options) {
  if (path.empty()) throw StoreError(StoreFailure::incompatible, "sqlite: wants the path of a file");
  if (!options.die) options.die = end_process;
  refuse_network_file_system(path);
  try {
    return std::make_unique<SqliteStore>(path, std::move(options));
  } catch (const SqlError& error) {
    throw opening_failed(path, error);
  } catch (const CorruptRow& error) {
    throw StoreError(StoreFailure::corrupt, path + ": " + error.what());
  }
}

}  // namespace stet::stores::sqlite
