#include "stores/sqlite/sqlite_store.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "stores/listing.hpp"
#include "stores/sqlite/connection.hpp"
#include "stores/sqlite/file_lock.hpp"
#include "stores/sqlite/ledger.hpp"
#include "stores/wall_guard.hpp"

namespace stet::stores::sqlite {
namespace {

// Rows that one slice of a list looks at: some milliseconds.
constexpr std::size_t kVisited = 500;

bool grants_work(const Command& command) {
  return std::holds_alternative<command::Claim>(command) ||
         std::holds_alternative<command::TakeOver>(command);
}

// What the ballast is for: a claim or a sweep can wait until there is room again.
bool ends_work(const Command& command) {
  return !grants_work(command) && !std::holds_alternative<command::Sweep>(command);
}

bool wants_answer(const Command& command, const Record& record) {
  if (record.state != State::completed) return false;
  if (const auto* claim = std::get_if<command::Claim>(&command))
    return claim->fingerprint == record.fingerprint;
  return std::holds_alternative<command::Complete>(command) ||
         std::holds_alternative<command::Settle>(command);
}

bool concerns_one_command(const SqlError& error) {
  return error.code() == SQLITE_FULL || error.code() == SQLITE_CORRUPT || error.code() == SQLITE_CONSTRAINT ||
         is_read_error(error);
}

class SqliteStore final : public Store {
 public:
  SqliteStore(const std::string& path, Options options)
      : options_(std::move(options)),
        lock_(path),
        room_(path, options_.free_space_floor, options_.ballast,
              options_.probe_space ? options_.probe_space : probe_directory_of(path)),
        connection_(path, options_, room_),
        ledger_(connection_, options_.cached_answers) {
    room_.restore_ballast(options_.clocks.mono());
  }

  std::vector<Outcome> execute(std::span<const Command> batch) override {
    connection_.refuse_if_broken();
    room_.restore_ballast(options_.clocks.mono());
    refuse_claims_ = false;
    try {
      return unit(batch);
    } catch (const SqlError& error) {
      if (!concerns_one_command(error)) throw connection_.store_error(error);
      refuse_claims_ = error.code() == SQLITE_FULL;
    }
    // A full disk or a damaged page is the trouble of some commands and not of the others.
    std::vector<Outcome> outcomes;
    outcomes.reserve(batch.size());
    for (const Command& command : batch) outcomes.push_back(alone(command));
    return outcomes;
  }

  std::optional<Result> peek(const command::Claim& claim) noexcept override {
    try {
      return ledger_.replay(claim);
    } catch (...) {  // no memory: the store thread may have some later
      return std::nullopt;
    }
  }

  std::optional<Record> find(const OperationId& id) override {
    return reading([&]() -> std::optional<Record> {
      auto found = ledger_.find(id);
      if (!found) return std::nullopt;
      return shown(*std::move(found), WithBody::yes);
    });
  }

  Page list(const Filter& filter, std::size_t limit, const std::string& cursor) override {
    return reading([&] { return page(filter, std::clamp<std::size_t>(limit, 1, kMostListed), cursor); });
  }

 private:
  // One transaction, if any command writes. Whatever it throws, nothing of it is left, in the file or in
  // memory.
  std::vector<Outcome> unit(std::span<const Command> batch) {
    guard_before_ = guard_;
    room_for_claims_.reset();
    std::vector<Outcome> outcomes;
    try {
      outcomes.reserve(batch.size());
      for (const Command& command : batch) outcomes.push_back(one(command));
      connection_.commit();
    } catch (...) {
      connection_.roll_back();
      ledger_.rolled_back();
      guard_ = guard_before_;
      throw;
    }
    ledger_.committed();
    connection_.checkpoint_when_long();
    return outcomes;
  }

  Outcome alone(const Command& command) {
    for (;;) {
      try {
        return unit({&command, 1}).front();
      } catch (const SqlError& error) {
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
    auto found = ledger_.find(place_of(command));
    std::optional<Held> held;
    if (found) {
      if (wants_answer(command, found->held.record)) {
        found->held.record.answer = ledger_.answer(*found, WithBody::yes);
      }
      held = std::move(found->held);
    }
    Transition transition = apply(command, std::move(held), now);
    if (transition.change == Change::write && grants_work(command) && !room_for_claims()) {
      return Failed{StoreFailure::full, "too little room is left on the disk for new operations"};
    }
    ledger_.change(found, transition);
    return std::move(transition.result);
  }

  // Asked of the disk once a unit: a batch is small against any floor.
  bool room_for_claims() {
    if (!room_for_claims_) room_for_claims_ = !refuse_claims_ && room_.for_claims();
    return *room_for_claims_;
  }

  Outcome sweep(const command::Sweep& command) {
    const Now now = read(options_.clocks);
    if (guard_.pass(now, command.clock) == result::SweepClock::jumped) {
      return result::Swept{0, 0, result::SweepClock::jumped, false};
    }
    return ledger_.sweep(command.limit, now);
  }

  // ---- reading ----

  Record shown(Ledger::Found found, WithBody body) {
    if (found.held.record.state == State::completed) found.held.record.answer = ledger_.answer(found, body);
    return shown_record(found.held, read(options_.clocks));
  }

  Page page(const Filter& filter, std::size_t limit, const std::string& cursor) {
    if (filter.scope && filter.key) return single(filter, cursor);
    Page page;
    const std::vector<Row> rows = ledger_.scan(static_cast<Row>(row_of(cursor)), filter.state, kVisited);
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
      auto found = ledger_.at(row);
      if (!found || !matches(filter, found->held, read(options_.clocks))) return;
      page.records.push_back(shown(*std::move(found), WithBody::no));
    } catch (const CorruptRow& error) {
      connection_.notice("a damaged record is not listed: " + std::string(error.what()));
    }
  }

  Page single(const Filter& filter, const std::string& cursor) {
    Page page;
    if (!cursor.empty()) return page;
    auto found = ledger_.find(Place{*filter.scope, *filter.key});
    if (found && matches(filter, found->held, read(options_.clocks))) {
      page.records.push_back(shown(*std::move(found), WithBody::no));
    }
    return page;
  }

  template <class Read>
  auto reading(Read read) -> decltype(read()) {
    connection_.refuse_if_broken();
    try {
      return read();
    } catch (const SqlError& error) {
      const bool damaged = error.code() == SQLITE_CORRUPT;
      throw StoreError(damaged ? StoreFailure::corrupt : StoreFailure::unavailable, error.what());
    } catch (const CorruptRow& error) {
      throw StoreError(StoreFailure::corrupt, error.what());
    }
  }

  const Options options_;
  const FileLock lock_;
  Room room_;
  Connection connection_;
  Ledger ledger_;
  WallGuard guard_;
  WallGuard guard_before_;
  bool refuse_claims_ = false;  // for the rest of a batch that met a full disk
  std::optional<bool> room_for_claims_;
};

}  // namespace

std::unique_ptr<Store> open(const std::string& path, Options options) {
  if (path.empty()) throw StoreError(StoreFailure::incompatible, "sqlite: wants the path of a file");
  if (std::error_code unknown; std::filesystem::is_directory(path, unknown)) {
    throw StoreError(StoreFailure::incompatible, "the store cannot be written: " + path + " is a directory");
  }
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
