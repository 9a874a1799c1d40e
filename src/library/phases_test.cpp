#include "stet/phases.hpp"

#include <atomic>
#include <future>
#include <latch>
#include <map>
#include <thread>

#include "library/sqlite_for_test.hpp"
#include "stet/completer.hpp"
#include "stet/sqlite/pool.hpp"
#include "stet/sweeper.hpp"

namespace stet::library {
namespace {

using namespace std::chrono_literals;

// Somebody else's service: it drops repeats of a key, as payment providers do.
class Provider {
 public:
  void charge(const std::string& key) {
    const std::lock_guard lock(mutex_);
    ++calls_;
    keys_.insert({key, 4900});
  }
  std::size_t charges() const { return keys_.size(); }
  int calls() const { return calls_; }

 private:
  std::mutex mutex_;
  std::map<std::string, int> keys_;
  int calls_ = 0;
};

class PhasesTest : public testing::Test {
 protected:
  void local(const std::string& sql, const std::function<void(Session&)>& last) {
    sqlite::Transaction transaction = pool_.transaction();
    ASSERT_EQ(sqlite3_exec(transaction.handle(), sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    last(transaction.session());
    transaction.commit();
  }
  Phase reserve() {
    return {"reserved", [this](Running& op) {
              ran_ += "r";
              local("INSERT INTO charges (amount) VALUES (0)", [&](Session& s) { op.advance(s); });
            }};
  }
  Phase charge() {
    return {"charged", [this](Running& op) {
              ran_ += "c";
              provider_.charge(op.derive("charge"));
              if (lose_answers_-- > 0) throw std::runtime_error("the provider's answer was lost");
              local("UPDATE charges SET amount = 4900", [&](Session& s) { op.advance(s); });
            }};
  }
  Phase finish(int status = 201) {
    return {"told", [this, status](Running& op) {
              ran_ += "f";
              local("SELECT 1", [&](Session& s) { op.complete(s, {status, {}, "done", Kept::whole}); });
            }};
  }
  std::vector<Phase> all(int status = 201) { return {reserve(), charge(), finish(status)}; }
  RunResult run(const std::vector<Phase>& phases, const std::string& what = "4900") {
    return run_phases(pool_, renewer_, intent("k", what), options_, phases);
  }
  State state() { return pool_.find(OperationId::of("alice", "k"))->state; }

  stores::sqlite::TestFile file_;
  UsersDatabase database_{file_.path()};
  sqlite::Pool pool_{file_.path(), {.durability = sqlite::PoolOptions::Durability::os}};
  Renewer renewer_;
  PhaseOptions options_;
  Provider provider_;
  std::string ran_;
  int lose_answers_ = 0;
};

TEST_F(PhasesTest, run_each_once_and_replay_the_answer) {
  const RunResult first = run(all());
  EXPECT_EQ(first.ending, Ending::ran);
  EXPECT_EQ(first.shown.answer.status, 201);
  for (int i = 0; i < 2; ++i) {
    const RunResult again = run(all());
    EXPECT_EQ(again.ending, Ending::replayed);
    EXPECT_EQ(again.shown.answer, first.shown.answer);
  }
  EXPECT_EQ(ran_, "rcf");
  EXPECT_EQ(provider_.calls(), 1);
  EXPECT_EQ(run(all(), "another").shown.problem, Problem::key_reused);
}

TEST_F(PhasesTest, go_on_after_the_last_finished_one) {
  lose_answers_ = 2;
  for (int i = 0; i < 2; ++i) EXPECT_THROW(run(all()), std::runtime_error);
  EXPECT_EQ(run(all()).ending, Ending::ran);
  EXPECT_EQ(run(all()).ending, Ending::replayed);
  EXPECT_EQ(ran_, "rcccf");
  EXPECT_EQ(provider_.calls(), 3);
  EXPECT_EQ(provider_.charges(), 1U) << "each attempt brought the provider the same key";
  EXPECT_EQ(database_.number("SELECT count(*) || sum(amount) FROM charges"), 14900);
}

TEST_F(PhasesTest, keep_whatever_status_a_phase_completes_with) {
  lose_answers_ = 1;
  EXPECT_THROW(run(all(402)), std::runtime_error);
  EXPECT_EQ(run(all(402)).ending, Ending::ran);
  EXPECT_EQ(run(all(402)).ending, Ending::replayed);
  EXPECT_EQ(run(all(201)).shown.answer.status, 402);
  EXPECT_EQ(state(), State::completed);
}

TEST_F(PhasesTest, end_early_where_a_phase_completes_the_operation) {
  const std::vector<Phase> phases{reserve(), finish(402), charge()};
  EXPECT_EQ(run(phases).ending, Ending::ran);
  EXPECT_EQ(run(phases).ending, Ending::replayed);
  EXPECT_EQ(ran_, "rf");
}

TEST_F(PhasesTest, find_the_answer_that_was_committed_although_the_commit_seemed_to_fail) {
  std::vector<Phase> phases = all();
  phases[2].run = [real = phases[2].run](Running& op) {
    real(op);
    throw std::runtime_error("the reply to COMMIT was lost");
  };
  const RunResult result = run(phases);
  EXPECT_EQ(result.ending, Ending::replayed);
  EXPECT_EQ(result.shown.answer.status, 201);
  EXPECT_EQ(run(all()).ending, Ending::replayed);
  EXPECT_EQ(ran_, "rcf");
}

// The provider may remember longer than we do.
TEST_F(PhasesTest, bring_the_provider_the_same_key_when_their_record_is_gone_and_another_for_another_intent) {
  EXPECT_EQ(run(all()).ending, Ending::ran);
  for (int i = 0; i < 2; ++i) {
    database_.run("DELETE FROM stet_operations");  // past its tombstone, or lost by a failover
    EXPECT_EQ(run(all()).ending, Ending::ran);
    EXPECT_EQ(provider_.charges(), 1U) << "a late retry is no second charge";
  }
  database_.run("DELETE FROM stet_operations");
  EXPECT_EQ(run(all(), "9900").ending, Ending::ran);
  EXPECT_EQ(provider_.charges(), 2U) << "its answer would be that of the old one";
}

TEST_F(PhasesTest, have_the_keys_of_the_record_when_a_later_version_makes_other_fingerprints) {
  lose_answers_ = 1;
  EXPECT_THROW(run(all()), std::runtime_error);
  options_.refingerprint = [](const Recipe& recipe) {
    return recipe == "bytes" ? std::optional(fingerprint_of("4900")) : std::nullopt;
  };
  Intent later = intent("k");
  later.fingerprint = {fingerprint_of("version 2").digest, "v2"};
  EXPECT_EQ(run_phases(pool_, renewer_, later, options_, all()).ending, Ending::ran);
  EXPECT_EQ(provider_.calls(), 2);
  EXPECT_EQ(provider_.charges(), 1U);
}

TEST_F(PhasesTest, may_take_as_long_as_they_like_where_nobody_gives_up) {
  options_.give_up_after = kForever;
  options_.retention = kForever;
  options_.tombstone = milliseconds::max() - 1ms;
  EXPECT_EQ(run(all()).ending, Ending::ran);
  EXPECT_EQ(run(all()).ending, Ending::replayed);
  options_.lease = kForever;
  EXPECT_EQ(run_phases(pool_, renewer_, intent("k2"), options_, all()).ending, Ending::ran);
}

TEST_F(PhasesTest, must_move_the_recovery_point) {
  EXPECT_THROW(run({{"nothing", [](Running&) {}}}), std::logic_error);
  EXPECT_THROW(run({reserve()}), std::logic_error) << "nobody completed it";
  EXPECT_THROW(run({charge(), finish()}), std::logic_error) << "the stored recovery point is not in the list";
  EXPECT_EQ(run(all()).ending, Ending::ran);
  EXPECT_EQ(ran_, "rcf");
}

TEST_F(PhasesTest, tell_a_second_caller_that_the_first_is_at_it) {
  std::promise<void> inside;
  std::promise<void> go_on;
  std::vector<Phase> phases = all();
  phases[1].run = [&, real = phases[1].run](Running& op) {
    inside.set_value();
    go_on.get_future().wait();
    real(op);
  };
  std::jthread first([&] { EXPECT_EQ(run(phases).ending, Ending::ran); });
  inside.get_future().wait();
  for (int i = 0; i < 2; ++i) {
    const RunResult busy = run(all());
    EXPECT_EQ(busy.ending, Ending::refused);
    EXPECT_EQ(busy.shown.problem, Problem::in_progress);
  }
  go_on.set_value();
  first.join();
  EXPECT_EQ(run(all()).ending, Ending::replayed);
}

TEST_F(PhasesTest, keep_their_lease_however_long_they_take) {
  options_.lease = 1500ms;
  std::vector<Phase> phases = all();
  std::promise<void> inside;
  std::atomic<bool> slow = true;
  phases[1].run = [&, real = phases[1].run](Running& op) {
    inside.set_value();
    std::this_thread::sleep_for(4s);
    slow = false;
    real(op);
  };
  std::jthread first([&] { EXPECT_EQ(run(phases).ending, Ending::ran); });
  inside.get_future().wait();
  while (slow) {
    EXPECT_NE(run(all()).ending, Ending::ran);
    std::this_thread::sleep_for(50ms);
  }
  first.join();
  EXPECT_EQ(ran_, "rcf");
}

TEST_F(PhasesTest, lose_the_operation_when_they_hang_for_longer_than_anybody_is_to_wait) {
  options_.lease = 100ms;
  options_.give_up_after = 200ms;
  std::vector<Phase> phases = all();
  std::promise<void> hangs;
  std::promise<void> wakes_up;
  phases[1].run = [&, real = phases[1].run](Running& op) {
    hangs.set_value();
    wakes_up.get_future().wait();
    real(op);
  };
  std::jthread first([&] {
    EXPECT_NE(run(phases).ending, Ending::ran) << "it is told to come again, or shown the other's answer";
  });
  hangs.get_future().wait();
  for (int tries = 0; tries < 1500 && run(all()).ending == Ending::refused; ++tries)
    std::this_thread::sleep_for(20ms);
  EXPECT_EQ(state(), State::completed);
  wakes_up.set_value();
  first.join();
  EXPECT_EQ(run(all()).ending, Ending::replayed);
  EXPECT_GE(provider_.calls(), 2);
  EXPECT_EQ(provider_.charges(), 1U);
  EXPECT_EQ(database_.charges(), 1);
}

// A process that hangs and wakes up later must not commit what another has done meanwhile.
TEST_F(PhasesTest, fence_an_attempt_that_another_has_taken_over) {
  std::vector<Phase> phases = all();
  std::string outcome;
  phases[0].run = [&, real = phases[0].run](Running& op) {
    database_.run("UPDATE stet_operations SET lease_boot = NULL, lease_ms = NULL");
    EXPECT_EQ(run_phases(pool_, renewer_, intent("k"), options_, all()).ending, Ending::ran);
    try {
      real(op);
    } catch (const Fenced&) {
      outcome = "fenced";
      throw;
    }
  };
  const RunResult late = run(phases);
  EXPECT_EQ(outcome, "fenced");
  EXPECT_EQ(late.ending, Ending::replayed) << "it shows the other's answer, never its own";
  EXPECT_EQ(database_.charges(), 1) << "its rows were rolled back";
}

TEST_F(PhasesTest, are_finished_by_the_completer_when_nobody_retries) {
  lose_answers_ = 1;
  EXPECT_THROW(run(all()), std::runtime_error);
  std::vector<std::string> points;
  CompleterOptions options;
  options.phases = options_;
  Completer completer(
      pool_, renewer_,
      [&](const Record& record) -> std::optional<std::vector<Phase>> {
        points.push_back(record.recovery_point);
        if (record.path != "/charges") return std::nullopt;
        return all();
      },
      options);
  EXPECT_EQ(completer.run_once(), 1U);
  EXPECT_EQ(completer.run_once(), 0U);
  EXPECT_EQ(points, std::vector<std::string>{"reserved"});
  EXPECT_EQ(run(all()).ending, Ending::replayed);
  EXPECT_EQ(ran_, "rccf");
  EXPECT_EQ(provider_.charges(), 1U);
}

TEST_F(PhasesTest,
       are_left_alone_by_the_completer_while_their_owner_lives_or_where_it_knows_nothing_of_them) {
  Completer nobody(pool_, renewer_, [](const Record&) { return std::nullopt; });
  std::vector<Phase> phases = all();
  phases[1].run = [&, real = phases[1].run](Running& op) {
    Completer completer(pool_, renewer_, [&](const Record&) { return all(); });
    EXPECT_EQ(completer.run_once(), 0U);
    if (lose_answers_-- > 0) throw std::runtime_error("the provider is away");
    real(op);
  };
  lose_answers_ = 1;
  EXPECT_THROW(run(phases), std::runtime_error);
  EXPECT_EQ(nobody.run_once(), 0U);
  EXPECT_EQ(state(), State::pending);
}

TEST_F(PhasesTest, of_a_gateway_on_the_same_store_are_not_offered_to_the_completer) {
  command::Claim claim{"alice", "k", Nonce::random(), fingerprint_of("x"), "POST", "/charges", {}, 0ms};
  claim.terms.scope_rule = "credentials";
  const Command command = claim;
  pool_.execute({&command, 1});
  Completer completer(pool_, renewer_, [](const Record&) -> std::optional<std::vector<Phase>> {
    ADD_FAILURE() << "it was";
    return std::nullopt;
  });
  EXPECT_EQ(completer.run_once(), 0U);
}

TEST_F(PhasesTest, that_fail_again_do_not_keep_the_completer_from_the_others) {
  lose_answers_ = 3;
  EXPECT_THROW(run(all()), std::runtime_error);
  EXPECT_THROW(run_phases(pool_, renewer_, intent("k2"), options_, all()), std::runtime_error);
  std::vector<std::string> notices;
  CompleterOptions options;
  options.phases = options_;
  options.notice = [&](std::string_view text) { notices.emplace_back(text); };
  Completer completer(pool_, renewer_, [&](const Record&) { return all(); }, options);
  EXPECT_EQ(completer.run_once(), 1U);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices[0].find("answer was lost"), std::string::npos);
  EXPECT_EQ(completer.run_once(), 1U);
}

TEST_F(PhasesTest, and_their_threads_end_when_they_are_told_to) {
  Completer completer(pool_, renewer_, [](const Record&) { return std::nullopt; });
  Sweeper sweeper(pool_);
  const auto begin = std::chrono::steady_clock::now();
  {
    std::jthread a([&](const std::stop_token& stop) { completer.run(stop); });
    std::jthread b([&](const std::stop_token& stop) { sweeper.run(stop); });
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_F(PhasesTest, are_swept_when_their_retention_is_over) {
  options_.retention = 1ms;
  options_.tombstone = 1ms;
  run(all());
  std::this_thread::sleep_for(5ms);
  Sweeper sweeper(pool_, {.rows = 1});
  const auto first = sweeper.run_once();
  EXPECT_EQ(first.expired, 1U);
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(sweeper.run_once().removed, 1U - first.removed);
  EXPECT_EQ(database_.operations(), 0);
}

TEST_F(PhasesTest, run_once_when_many_start_them_at_once) {
  constexpr int kCallers = 6;
  std::latch go(kCallers);
  std::atomic<int> ran = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&] {
        go.arrive_and_wait();
        for (int tries = 0; tries < 2000; ++tries) {
          const RunResult result = run(all());
          if (result.ending == Ending::ran) ++ran;
          if (result.ending != Ending::refused) return;
          std::this_thread::sleep_for(10ms);
        }
        ADD_FAILURE() << "it never ended";
      });
    }
  }
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(provider_.calls(), 1);
  EXPECT_EQ(database_.charges(), 1);
}

}  // namespace
}  // namespace stet::library
