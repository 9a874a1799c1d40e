#include "stores/postgres/postgres_store.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "stores/answer_cache.hpp"
#include "stores/listing.hpp"
#include "stores/postgres/doubts.hpp"
#include "stores/postgres/link.hpp"
#include "stores/postgres/listing_sql.hpp"
#include "stores/postgres/round.hpp"
#include "stores/postgres/unanswered.hpp"
#include "stores/transition.hpp"
#include "stores/wall_guard.hpp"

namespace stet::stores::postgres {
namespace {

using namespace std::chrono_literals;

constexpr int kRepeats = 3;  // of a statement that met another transaction
// A sweep that finds nothing to count goes on for so long: what waits behind it in the batch waits, too.
constexpr std::chrono::milliseconds kSweepTime{300};

// What the stores of one gateway share.
struct Shared {
  explicit Shared(const Options& options)
      : watch(options.notice, options.alarm), answers(options.cached_answers), clocks(options.clocks) {}

  Watch watch;
  AnswerCache answers;
  Doubts doubts;
  Unanswered unanswered;
  const Clocks clocks;
  std::mutex sweeping;  // guards the guard
  WallGuard guard;
};

// Of a command that grants work; nullptr: it is none.
const Nonce* nonce_of_work(const Command& command) {
  if (const auto* claim = std::get_if<command::Claim>(&command)) return &claim->nonce;
  if (const auto* take_over = std::get_if<command::TakeOver>(&command)) return &take_over->nonce;
  return nullptr;
}

// Errors that one command of many may have caused: a damaged page, a value that PostgreSQL cannot take, too
// little room.
bool concerns_one_command(const PgError& error) {
  return error.connection() == PgError::Connection::usable &&
         (error.kind() == StoreFailure::corrupt || error.kind() == StoreFailure::full ||
          error.sqlstate().starts_with("22") || error.sqlstate().starts_with("23") ||
          error.sqlstate().starts_with("54"));
}

// Once the gateway runs, missing rights or functions are a refusal like others: nothing was written.
StoreFailure while_running(StoreFailure kind) {
  return kind == StoreFailure::incompatible ? StoreFailure::not_written : kind;
}

// By how much the local clock may run slower than the server's until a cached answer might have been swept.
milliseconds with_margin(milliseconds left) {
  return left - 1s - left / 1000;
}

class PostgresStore final : public Store {
 public:
  PostgresStore(const std::string& url, const Options& options, std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)),
        operation_time_(options.operation_time),
        listing_time_(options.listing_time),
        caller_(options.durability == Durability::full ? Caller::gateway : Caller::gateway_at_ease),
        link_(url, options.durability, options.operation_time, shared_->watch, shared_->unanswered) {}

  void connect(OpenOptions::Missing missing) { link_.open(missing); }

  std::vector<Outcome> execute(std::span<const Command> batch) override {
    std::vector<Outcome> outcomes(batch.size(), Failed{StoreFailure::not_written, "not tried"});
    any_written_ = false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= batch.size(); ++i) {
      const bool sweeps = i < batch.size() && std::holds_alternative<command::Sweep>(batch[i]);
      if (i < batch.size() && !sweeps) continue;
      segment(batch, begin, i, outcomes);
      if (sweeps) outcomes[i] = sweep(std::get<command::Sweep>(batch[i]));
      begin = i + 1;
    }
    return outcomes;
  }

  std::optional<Result> peek(const command::Claim& claim) noexcept override {
    try {
      auto replay = shared_->answers.replay(claim, shared_->clocks.mono());
      if (!replay) return std::nullopt;
      return *std::move(replay);
    } catch (...) {  // no memory: the store thread may have some later
      return std::nullopt;
    }
  }

  std::optional<Record> find(const OperationId& id) override {
    Parameters parameters;
    parameters.add_uuid(id.bytes);
    const ResultPtr found = reading(kFind, parameters, operation_time_);
    try {
      return record_of(found.get());
    } catch (const BadRow& bad) {
      throw StoreError(StoreFailure::corrupt, "PostgreSQL: " + bad.what);
    }
  }

  Page list(const Filter& filter, std::size_t limit, const std::string& cursor) override {
    limit = std::clamp<std::size_t>(limit, 1, kMostListed);
    Parameters parameters = list_parameters(filter, limit, cursor);
    const ResultPtr found = reading(kList, parameters, listing_time_);
    return page_of(found.get(), limit, [this](const std::string& what) {
      shared_->watch.say("a damaged record is not listed: " + what);
    });
  }

 private:
  // ---- writing ----

  void segment(std::span<const Command> batch, std::size_t begin, std::size_t end,
               std::vector<Outcome>& outcomes) {
    Places places;
    for (std::size_t i = begin; i < end; ++i) {
      if (auto failed = unfit(batch[i])) {
        outcomes[i] = *std::move(failed);
      } else {
        places.push_back(i);
      }
    }
    for (const Places& round : rounds_of(batch, std::move(places))) {
      for (const Places& part : parts_of(batch, round)) whole(batch, part, outcomes);
    }
  }

  // Later rounds of a batch whose earlier ones were committed say for each command what became of it; the
  // first one throws.
  void whole(std::span<const Command> batch, const Places& places, std::vector<Outcome>& outcomes) {
    try {
      try {
        one_round(batch, places, outcomes);
        any_written_ = true;
      } catch (const PgError& error) {
        if (!concerns_one_command(error)) throw StoreError(while_running(error.kind()), error.what());
        if (error.kind() == StoreFailure::full) {
          without_claims(batch, places, outcomes, error);
        } else {
          each_alone(batch, places, outcomes);
        }
        any_written_ = true;
      }
    } catch (const StoreError& error) {
      if (!any_written_) throw;
      for (const std::size_t place : places) outcomes[place] = Failed{error.kind(), error.what()};
    }
  }

  // A claim that is locked mostly met the very end of another transaction, whose lock goes just after its
  // rows: a claim of another gateway, a sweep. So it is asked once more at once; what then still holds it may
  // do so for long.
  void one_round(std::span<const Command> batch, const Places& places, std::vector<Outcome>& outcomes) {
    // Asked before the round is sent: what has ended by then the round sees, whatever ends while it runs.
    const bool on_its_way =
        std::ranges::any_of(places, [&](std::size_t place) { return withdraws_a_doubt(batch[place]); }) &&
        shared_->unanswered.any();
    Places locked = ask(batch, places, outcomes);
    try {
      if (!locked.empty()) locked = ask(batch, locked, outcomes);
    } catch (const StoreError&) {
      // The others have been served; "in progress" stays true of these.
    }
    for (const std::size_t place : locked) {
      if (!shared_->doubts.has(std::get<command::Claim>(batch[place]).nonce)) continue;
      outcomes[place] =
          Failed{StoreFailure::unavailable, "an earlier write of this claim may still be on its way"};
    }
    if (!on_its_way) return;
    // Nothing was there to withdraw, but what was given up may have come to be there since, or may yet.
    for (const std::size_t place : places) {
      const auto* const said = std::get_if<Result>(&outcomes[place]);
      const bool nothing = said != nullptr && std::holds_alternative<result::Fenced>(*said);
      if (!nothing || !withdraws_a_doubt(batch[place])) continue;
      outcomes[place] = Failed{StoreFailure::unavailable, "the claim that is withdrawn may still be on its way"};
    }
  }

  bool withdraws_a_doubt(const Command& command) const {
    const auto* const release = std::get_if<command::Release>(&command);
    return release != nullptr && shared_->doubts.has(release->token.nonce);
  }

  // The claims that were locked.
  Places ask(std::span<const Command> batch, const Places& places, std::vector<Outcome>& outcomes) {
    Round round(batch, places, Foreign::answer_in_progress);
    for (int attempt = 1;; ++attempt) {
      Connection& connection = link_.get();
      const MonoTime before = shared_->clocks.mono();
      try {
        const ResultPtr result = connection.run(round.statement(caller_).c_str(), round.parameters());
        Round::Told told = round.read(result.get(), outcomes);
        link_.succeeded();
        remember(batch, outcomes, told.answered, before);
        return std::move(told.locked);
      } catch (const PgError& error) {
        link_.failed(error);
        if (error.kind() == StoreFailure::unavailable) doubt(batch, places);
        if (!is_worth_repeating(error.sqlstate()) || attempt == kRepeats) throw;
      }
    }
  }

  void doubt(std::span<const Command> batch, const Places& places) {
    for (const std::size_t place : places) {
      const Nonce* const nonce = nonce_of_work(batch[place]);
      if (nonce != nullptr) shared_->doubts.add(*nonce, std::chrono::steady_clock::now());
    }
  }

  // Room for a completion may be found in pages that are there; a claim can wait until there is more.
  void without_claims(std::span<const Command> batch, const Places& places, std::vector<Outcome>& outcomes,
                      const PgError& error) {
    Places rest;
    for (const std::size_t place : places) {
      if (nonce_of_work(batch[place]) != nullptr) {
        outcomes[place] = Failed{StoreFailure::full, error.what()};
      } else {
        rest.push_back(place);
      }
    }
    each_alone(batch, rest, outcomes);
  }

  void each_alone(std::span<const Command> batch, const Places& places, std::vector<Outcome>& outcomes) {
    for (const std::size_t place : places) {
      try {
        one_round(batch, {place}, outcomes);
      } catch (const StoreError& error) {
        outcomes[place] = Failed{while_running(error.kind()), error.what()};
      }
    }
  }

  void remember(std::span<const Command> batch, const std::vector<Outcome>& outcomes,
                const std::vector<Round::Answered>& answered, MonoTime before) {
    for (const Round::Answered& its : answered) {
      const milliseconds left = with_margin(its.left.value_or(24h));
      if (left <= 0ms) continue;
      Record record;
      const Command& command = batch[its.place];
      const auto& result = std::get<Result>(outcomes[its.place]);
      if (const auto* claim = std::get_if<command::Claim>(&command)) {
        const auto& replay = std::get<result::Replay>(result);
        record.token = {claim->scope, claim->key, {}, 0};
        record.fingerprint = claim->fingerprint;
        record.answer = replay.answer;
        record.expires_at = replay.expires_at;
      } else if (const auto* complete = std::get_if<command::Complete>(&command)) {
        record.token = complete->token;
        record.fingerprint = its.fingerprint;
        record.answer = complete->answer;
        record.expires_at = std::get<result::Ok>(result).expires_at;
      } else {
        continue;
      }
      shared_->answers.keep(record, before + left);
    }
  }

  Outcome sweep(const command::Sweep& command) {
    try {
      const std::lock_guard lock(shared_->sweeping);
      const ResultPtr clock = statement("SELECT stet.now_ms() AS now_ms");
      const Now now{WallTime(milliseconds(Row(clock.get(), 0).integer("now_ms"))), shared_->clocks.mono()};
      if (shared_->guard.pass(now, command.clock) == result::SweepClock::jumped) {
        return result::Swept{0, 0, result::SweepClock::jumped, false};
      }
      result::Swept swept;
      while (swept.expired + swept.removed < command.limit) {
        sweep_slice(command.limit - swept.expired - swept.removed, swept);
        any_written_ = true;
        if (!swept.more || shared_->clocks.mono() - now.mono >= kSweepTime) break;
      }
      return swept;
    } catch (const StoreError& error) {
      return Failed{while_running(error.kind()), error.what()};
    }
  }

  // Not all that is swept is counted: the leases of what services completed, one for each operation of a
  // joining route.
  void sweep_slice(std::size_t limit, result::Swept& sum) {
    Parameters parameters;
    parameters.add(static_cast<std::int32_t>(std::min<std::size_t>(limit, 100'000)));
    const ResultPtr swept = statement("SELECT * FROM stet.sweep($1)", parameters);
    const Row row(swept.get(), 0);
    sum.expired += static_cast<std::size_t>(row.integer("expired"));
    sum.removed += static_cast<std::size_t>(row.integer("removed"));
    sum.more = row.boolean("more");
  }

  ResultPtr statement(const char* sql) {
    Parameters none;
    return statement(sql, none);
  }

  ResultPtr statement(const char* sql, Parameters& parameters) {
    Connection& connection = link_.get();
    try {
      ResultPtr result = connection.run(sql, parameters);
      link_.succeeded();
      return result;
    } catch (const PgError& error) {
      link_.failed(error);
      throw;
    }
  }

  // ---- reading ----

  // Once more on a new connection when the old one broke: nothing can have been written.
  ResultPtr reading(const char* sql, Parameters& parameters, std::chrono::milliseconds time) {
    for (int attempt = 1;; ++attempt) {
      try {
        Connection& connection = link_.get();
        ResultPtr result = connection.run(sql, parameters, time);
        link_.succeeded();
        return result;
      } catch (const PgError& error) {
        link_.failed_reading(error);
        const bool lost = error.connection() == PgError::Connection::gone;
        if (!lost || attempt > 1) throw StoreError(reading_failure(error.kind()), error.what());
      } catch (const StoreError& error) {
        throw StoreError(reading_failure(error.kind()), error.what());
      }
    }
  }

  static StoreFailure reading_failure(StoreFailure kind) {
    return kind == StoreFailure::corrupt ? kind : StoreFailure::unavailable;
  }

  const std::shared_ptr<Shared> shared_;
  const std::chrono::milliseconds operation_time_;
  const std::chrono::milliseconds listing_time_;
  const Caller caller_;
  Link link_;
  bool any_written_ = false;  // by this batch
};

}  // namespace

bool is_postgres(std::string_view url) {
  return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

std::vector<std::unique_ptr<Store>> open(const std::string& url, const Options& options) {
  const auto shared = std::make_shared<Shared>(options);
  std::vector<std::unique_ptr<Store>> stores;
  for (std::size_t i = 0; i < std::max<std::size_t>(options.connections, 1); ++i) {
    auto store = std::make_unique<PostgresStore>(url, options, shared);
    if (i == 0) store->connect(options.missing);
    stores.push_back(std::move(store));
  }
  return stores;
}

}  // namespace stet::stores::postgres
