// An upstream that records its answer in the transaction of its rows, in the gateways' own store, as
// stet.complete does: it holds the record from there to its COMMIT, and rolls back when the record is no
// longer under its token.
#include "run.hpp"
#include "stet/decide.hpp"
#include "stores/transition.hpp"

namespace stet::simulation {

using namespace std::chrono_literals;

void World::forward_joined(const std::shared_ptr<Run>& run, const Token& token) {
  run->listening = true;
  run->owns = true;
  gateways_[run->gateway].running[run->exchange.id()] = run;
  const auto tell = [this, run](milliseconds delay, const UpstreamOutcome& outcome) {
    after(delay, [this, run, outcome] {
      if (run->listening) step(run, event::Upstream{outcome});
    });
  };
  if (chance(chances_.not_sent)) return tell(between(1, 10), upstream::NotSent{"refused"});
  sent_.insert(token.text());
  if (chance(chances_.request_lost)) return tell(between(1, 100), upstream::Lost{"cut"});
  if (chance(chances_.proxy_gives_up))
    tell(between(1, 300), upstream::Answered{Answer{504, {}, "proxy"}, {}});
  const milliseconds arrives = chance(chances_.slow) ? between(5'000, 90'000) : between(1, 300);
  after(arrives, [this, run, token] { begin_transaction(run, token); });
}

void World::begin_transaction(const std::shared_ptr<Run>& run, const Token& token) {
  if (!chance(chances_.held)) {
    commit(run, token);
    return;
  }
  const auto record = store_->find(token.id());
  const bool ours = record && record->token == token &&
                    (record->state == State::pending || record->state == State::unknown);
  if (!ours) {
    ++counts_.zombies;
    return;
  }
  held_.insert(token.key);
  after(between(1, 10'000), [this, run, token] {
    held_.erase(token.key);
    commit(run, token);
  });
}

void World::commit(const std::shared_ptr<Run>& run, const Token& token) {
  const auto tell = [this, run](const UpstreamOutcome& outcome) {
    after(between(1, 100), [this, run, outcome] {
      if (run->listening) step(run, event::Upstream{outcome});
    });
  };
  const auto failed = [](std::string why) { return upstream::Answered{Answer{500, {}, std::move(why)}, {}}; };
  if (chance(chances_.rolled_back)) {
    return tell(chance(50) ? UpstreamOutcome(failed("rolled back")) : upstream::Lost{"the upstream died"});
  }
  const Answer recorded = ledger_.prepare(token);
  const auto outcome = execute(command::Complete{token, recorded, std::nullopt});
  const auto* result = std::get_if<Result>(&outcome);
  if (result == nullptr ||
      !std::holds_alternative<result::Ok>(*result)) {  // SQLSTATE STET1, or it waits in vain
    ++counts_.zombies;
    return tell(failed("fenced"));
  }
  ledger_.took_effect(token, recorded);
  if (denied_.contains(token.text())) {
    breaches_.push_back("I7: " + token.key + " took effect after it was called not executed");
  }
  if (chance(chances_.upstream_silent)) {
    run->answer_lost = true;
    return;
  }
  if (chance(chances_.answer_lost)) {
    run->answer_lost = true;
    return tell(upstream::Lost{"cut"});
  }
  // What it says is not what it recorded: a Date, a request id.
  Answer said = recorded;
  said.headers.push_back({"X-Of-One-Moment", "1"});
  tell(upstream::Answered{said, {}});
}

// The store as PostgreSQL is: what would change a record that another transaction holds is refused, for that
// command alone; leases are kept elsewhere, and claims only read a record that is there.
Store::Outcome World::execute(const Command& command) {
  if (held_.contains(std::string(stores::place_of(command).key))) {
    if (std::holds_alternative<command::TakeOver>(command)) {
      ++counts_.refused;
      return Result{result::InProgress{1s}};
    }
    if (!std::holds_alternative<command::Claim>(command) &&
        !std::holds_alternative<command::Renew>(command)) {
      ++counts_.refused;
      return Store::Failed{StoreFailure::unavailable, "held"};
    }
  }
  return store_->execute({&command, 1}).front();
}

// A pass of the reconciler; what has to be asked first is left to the next attempt.
void World::reconcile_lapsed() {
  Filter filter;
  filter.lease = Filter::Lease::lapsed;
  for (const Record& record : store_->list(filter, 100, "").records) {
    const Reconcile what = reconcile(record, policy_.promise);
    if (what == Reconcile::release) {
      ++counts_.reconciled;
      execute(command::Settle{record.token, Nonce::random(), std::nullopt});
    } else if (what == Reconcile::settle_unknown) {
      ++counts_.reconciled;
      execute(command::SettleUnknown{record.token, command::SettleUnknown::By::observer});
    }
  }
}

// I7, by the token: "not executed" is true for ever once it has been said.
void World::check_joined(const std::shared_ptr<Run>& run, const Shown& shown) {
  const bool answer = shown.outcome == Outcome::completed && shown.kind != ShownKind::problem;
  if (answer && run->answer_lost) ++counts_.saved;
  if (shown.outcome != Outcome::not_executed && !shown.new_key_safe) return;
  if (!run->token || !sent_.contains(run->token->text())) return;
  ++counts_.not_executed;
  denied_.insert(run->token->text());
  const auto record = store_->find(run->token->id());
  if (record && record->token == *run->token) {
    breaches_.push_back("I7: " + run->key + " was called not executed, and its token still holds");
  }
}

// I3: with everything at rest, there is an effect exactly where there is an answer.
void World::check_effects(const std::string& key) {
  if (!joins_) return;
  const auto record = store_->find(OperationId::of("scope", key));
  const std::size_t answers = record && record->state == State::completed ? 1 : 0;
  if (ledger_.effects(key) != answers) {
    breaches_.push_back("I3: " + key + " took effect " + std::to_string(ledger_.effects(key)) +
                        " times and has " + std::to_string(answers) + " answers");
  }
}

}  // namespace stet::simulation
