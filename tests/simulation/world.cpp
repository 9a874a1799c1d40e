#include "run.hpp"

namespace stet::simulation {

using namespace std::chrono_literals;

namespace {

Fingerprint fingerprint(std::uint8_t request) {
  return Fingerprint{Digest{request}, "v1"};
}

stores::Clocks clocks(const MonoTime& now) {
  return {[&now] { return WallTime(std::chrono::duration_cast<milliseconds>(now.time_since_epoch())); },
          [&now] { return now; }};
}

}  // namespace

World::World(std::uint64_t seed, Policy policy, Ledger::Upstream upstream, Chances chances)
    : random_(seed),
      chances_(chances),
      policy_(std::move(policy)),
      ledger_(upstream),
      store_(stores::make_memory_store(clocks(now_))),
      joins_(upstream == Ledger::Upstream::joins) {}

void World::after(milliseconds delay, Job job) {
  queue_.push({now_ + delay, ++order_, std::move(job)});
}

void World::drain() {
  for (int steps = 0; !queue_.empty(); ++steps) {
    if (steps > 200'000) {
      breaches_.push_back("the world does not come to rest");
      return;
    }
    const Timed next = queue_.top();
    queue_.pop();
    now_ = next.at;
    next.job();
  }
}

std::vector<std::string> World::run(int keys) {
  for (int k = 0; k < keys; ++k) {
    const std::string key = "key-" + std::to_string(k);
    for (int attempt = 0; attempt < 6; ++attempt) {
      after(between(0, 20'000), [this, key] {
        const auto gateway = static_cast<std::size_t>(between(0, 2).count());
        send(key, gateway, chance(chances_.other_request) ? 1 : 0, [](const Shown*) {});
        if (chance(chances_.crash)) after(between(0, 3'000), [this, gateway] { crash(gateway); });
        if (chance(chances_.reconciles)) after(between(0, 10'000), [this] { reconcile_lapsed(); });
      });
    }
  }
  drain();
  chances_ = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  settle_everything(keys);
  return breaches_;
}

// I6: with the faults over, every intent comes to an end that its client can act on.
void World::settle_everything(int keys) {
  for (int k = 0; k < keys; ++k) {
    const std::string key = "key-" + std::to_string(k);
    auto settled = std::make_shared<bool>(false);
    for (int attempt = 0; attempt < 50 && !*settled; ++attempt) {
      after(1s, [this, key, settled] {
        send(key, 0, 0, [this, key, settled](const Shown* shown) {
          if (shown == nullptr) return;
          const bool answered = shown->outcome == Outcome::completed || shown->outcome == Outcome::replayed;
          const bool honest = shown->kind == ShownKind::problem &&
                              shown->problem == Problem::outcome_unknown &&
                              policy_.terms.on_unknown == OnUnknown::fail;
          const bool other_won = shown->kind == ShownKind::problem && shown->problem == Problem::key_reused;
          *settled = answered || honest || other_won;
        });
      });
      drain();
    }
    if (!*settled) breaches_.push_back("I6: " + key + " never comes to an end");
    check_effects(key);
    if (ledger_.effects(key) > 1)
      breaches_.push_back("I2: " + key + " took effect " + std::to_string(ledger_.effects(key)) + " times");
  }
}

void World::send(const std::string& key, std::size_t gateway, std::uint8_t request,
                 std::function<void(const Shown*)> told) {
  auto run = std::make_shared<Run>(
      Run{key, request, gateway, gateways_[gateway].life,
          Exchange({"scope", key, fingerprint(request), "POST", "/charges"}, policy_), std::move(told)});
  step(run, event::Start{});
}

void World::crash(std::size_t gateway) {
  ++counts_.crashes;
  ++gateways_[gateway].life;  // whatever comes back to the old life finds nobody
  gateways_[gateway].running.clear();
}

void World::step(const std::shared_ptr<Run>& run, const Event& event) {
  if (gateways_[run->gateway].life != run->life || run->exchange.finished()) return;
  if (const auto* stored = std::get_if<event::Stored>(&event);
      stored && std::holds_alternative<result::Fenced>(stored->result)) {
    ++counts_.fenced;
  }
  const Step step = run->exchange.step(event, now_);
  for (const Action& action : step.actions) follow(run, action);
  const std::uint64_t wake = ++run->wake;
  if (step.wake_at) {
    const auto delay = std::max(0ms, std::chrono::ceil<milliseconds>(*step.wake_at - now_));
    after(delay, [this, run, wake] {
      if (run->wake == wake) this->step(run, event::Woken{});
    });
  }
  if (run->exchange.finished()) ended(run);
}

void World::ended(const std::shared_ptr<Run>& run) {
  if (!run->owns) return;
  gateways_[run->gateway].running.erase(run->exchange.id());
  for (const auto& waiter : run->waiters) {
    const auto& word = run->exchange.last_word();
    const OwnerNews news = word ? OwnerNews(owner::Ended{*word}) : OwnerNews(owner::NotHere{});
    after(0ms, [this, waiter, news] { step(waiter, event::OwnerSays{news}); });
  }
  run->waiters.clear();
}

void World::follow(const std::shared_ptr<Run>& run, const Action& action) {
  struct Follow {
    World& world;
    const std::shared_ptr<Run>& run;

    void operator()(const action::Execute& a) const {
      if (std::holds_alternative<command::TakeOver>(a.command)) ++world.counts_.take_overs;
      world.ask_store(run, [&w = world, r = run, command = a.command]() -> Event {
        if (std::holds_alternative<command::Release>(command) && w.untouched(r->key))
          w.freed_untouched_.insert(r->key);
        const auto outcome = w.execute(command);
        if (const auto* failed = std::get_if<Store::Failed>(&outcome))
          return event::StoreFailed{failed->kind};
        const bool here = w.gateways_[r->gateway].running.contains(r->exchange.id());
        return event::Stored{std::get<Result>(outcome), here ? RunsHere::yes : RunsHere::no};
      });
    }
    void operator()(const action::Find& a) const {
      world.ask_store(run, [&w = world, id = a.id]() -> Event { return event::Found{w.store_->find(id)}; });
    }
    void operator()(const action::Refingerprint&) const {
      world.step(run, event::Refingerprinted{std::nullopt});
    }
    void operator()(const action::Forward& a) const {
      run->token = a.token;
      if (world.joins_) {
        world.forward_joined(run, a.token);
      } else {
        world.forward(run, a.token);
      }
    }
    void operator()(const action::Ask& a) const {
      world.after(world.between(1, 50), [&w = world, r = run, token = a.token] {
        w.step(r, event::Asked{w.chance(w.chances_.answer_lost) ? AskVerdict(asked::Nothing{})
                                                                : w.ledger_.asked(token)});
      });
    }
    void operator()(const action::AwaitOwner& a) const { world.await_owner(run, a.pause); }
    void operator()(const action::StopWaiting&) const {}  // its later news meets a finished machine
    void operator()(const action::StopListening&) const { run->listening = false; }
    void operator()(const action::ProxyUnprotected&) const {
      world.breaches_.push_back("unprotected without a word");
    }
    void operator()(const action::Reply& a) const {
      world.check(run->key, run->request, a.shown);
      if (world.joins_) world.check_joined(run, a.shown);
      run->told(&a.shown);
    }
  };
  std::visit(Follow{*this, run}, action);
}

void World::ask_store(const std::shared_ptr<Run>& run, std::function<Event()> command) {
  const milliseconds there = between(1, 20);
  if (!chance(chances_.store_fails)) {
    after(there, [this, run, command] {
      const Event event = command();
      after(between(1, 20), [this, run, event] { step(run, event); });
    });
    return;
  }
  after(there, [this, run] { step(run, event::StoreFailed{StoreFailure::unavailable}); });
  if (chance(50))
    after(chance(50) ? there : between(20, 40'000), [command] { command(); });  // and it was done, or will be
}

void World::forward(const std::shared_ptr<Run>& run, const Token& token) {
  run->listening = true;
  run->owns = true;
  gateways_[run->gateway].running[run->exchange.id()] = run;
  const auto tell = [this, run](milliseconds delay, UpstreamOutcome outcome) {
    after(delay, [this, run, outcome] {
      if (run->listening) step(run, event::Upstream{outcome});
    });
  };
  if (chance(chances_.not_sent)) return tell(between(1, 10), upstream::NotSent{"refused"});
  if (chance(chances_.request_lost)) return tell(between(1, 100), upstream::Lost{"cut"});
  const milliseconds arrives = chance(chances_.slow) ? between(5'000, 90'000) : between(1, 300);
  ++in_flight_[token.key];
  // The upstream works whether or not anybody listens.
  after(arrives, [this, run, token, tell] {
    --in_flight_[token.key];
    const auto answer = ledger_.execute(token);
    if (!answer) return tell(0ms, upstream::Lost{"refused as promised"});
    if (chance(chances_.upstream_silent)) return;
    if (chance(chances_.answer_lost)) return tell(between(1, 100), upstream::Lost{"cut"});
    tell(between(1, 100), upstream::Answered{*answer, {}});
  });
}

void World::await_owner(const std::shared_ptr<Run>& run, milliseconds pause) {
  ++counts_.waits;
  auto& running = gateways_[run->gateway].running;
  if (const auto owner = running.find(run->exchange.id()); owner != running.end()) {
    owner->second->waiters.push_back(run);
    return;
  }
  after(pause, [this, run] { step(run, event::OwnerSays{owner::NotHere{}}); });
}

bool World::untouched(const std::string& key) {
  // A joined attempt in flight whose token is fenced will never take effect: check_joined looks at the
  // tokens.
  return ledger_.effects(key) == 0 && (joins_ || in_flight_[key] == 0);
}

void World::check(const std::string& key, std::uint8_t request, const Shown& shown) {
  const bool answer = shown.outcome == Outcome::completed || shown.outcome == Outcome::replayed;
  if (shown.outcome == Outcome::replayed) ++counts_.replays;
  if (shown.outcome == Outcome::unknown) ++counts_.unknowns;
  if (shown.kind == ShownKind::problem && shown.problem == Problem::still_running) ++counts_.late;
  if (shown.kind == ShownKind::problem && shown.problem == Problem::key_reused) ++counts_.mismatches;
  if (answer && shown.kind != ShownKind::problem) {
    const std::string slot = key + "/" + std::to_string(request);
    const auto [first, fresh] = first_answers_.try_emplace(slot, shown.answer);
    if (!fresh && !(first->second == shown.answer)) breaches_.push_back("I1: two answers for " + key);
    if (!ledger_.said(key, shown.answer))
      breaches_.push_back("an answer that the upstream never gave: " + key);
    if (first_answers_.contains(key + "/" + std::to_string(1 - request)))
      breaches_.push_back("I4: " + key + " answered two requests");
  }
  const bool innocent = shown.outcome == Outcome::not_executed || shown.new_key_safe;
  // True when the key was freed; that another attempt has started before the word arrived is that attempt's
  // affair.
  if (innocent && !untouched(key) && !freed_untouched_.contains(key)) {
    breaches_.push_back("I7: " + key + " was called not executed");
  }
}

}  // namespace stet::simulation
