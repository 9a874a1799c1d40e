// Full disks, failing disks and what a batch costs.

#include <sqlite3.h>

#include <filesystem>
#include <map>

#include "stores/commands_for_test.hpp"
#include "stores/sqlite/faulty_vfs_for_test.hpp"
#include "stores/sqlite/file_for_test.hpp"

namespace stet::stores::sqlite {
namespace {

struct DiskTest : testing::Test {
  TestFile file;
  Faults& faults = fresh_faults();
  std::vector<std::string> last_words;
  std::vector<std::string> notices;
  DiskSpace space{100 << 20, 50 << 20};

  std::unique_ptr<Store> open(Options options = quick_options()) {
    options.vfs = kFaultyVfs;
    options.probe_space = [this] { return space; };
    options.die = [this](const std::string& text) { last_words.push_back(text); };
    options.notice = [this](std::string_view text) { notices.emplace_back(text); };
    return sqlite::open(file.path(), std::move(options));
  }
  bool has_ballast() const { return std::filesystem::exists(file.path() + "-ballast"); }
};

TEST_F(DiskTest, replays_write_and_sync_nothing) {
  Options options = quick_options();
  options.sync = Options::Sync::full;
  const auto store = open(options);
  const auto c = claim_of("k");
  run(*store, c);
  run(*store, completion_of(c));
  fresh_faults();
  const std::vector<Command> batch(20, claim_of("k"));
  for (const auto& outcome : store->execute(batch)) EXPECT_NE(as<result::Replay>(outcome), nullptr);
  EXPECT_EQ(faults.writes, 0);
  EXPECT_EQ(faults.syncs, 0);
}

TEST_F(DiskTest, renewals_write_nothing) {
  const auto store = open();
  const auto c = claim_of("k");
  run(*store, c);
  fresh_faults();
  EXPECT_NE(as<result::Ok>(run(*store, command::Renew{{c.scope, c.key, c.nonce, 1}, c.lease})), nullptr);
  EXPECT_EQ(faults.writes, 0);
}

TEST_F(DiskTest, a_batch_costs_one_sync) {
  Options options = quick_options();
  options.sync = Options::Sync::full;
  const auto store = open(options);
  run(*store, claim_of("first"));
  fresh_faults();
  std::vector<Command> batch;
  for (int i = 0; i < 64; ++i) batch.emplace_back(claim_of("k" + std::to_string(i)));
  store->execute(batch);
  EXPECT_EQ(faults.syncs, 1);
}

TEST_F(DiskTest, refuses_new_work_below_the_floor_and_completes_what_runs) {
  Options options = quick_options();
  options.free_space_floor = 4 << 20;
  const auto store = open(options);
  const auto running = claim_of("running");
  const auto lapsed = claim_of("lapsed");
  run(*store, running);
  run(*store, lapsed);
  run(*store, command::GiveBack{{"scope", "lapsed", lapsed.nonce, 1}});
  space.free = (4 << 20) - 1;
  EXPECT_EQ(failure(run(*store, claim_of("new"))), StoreFailure::full);
  EXPECT_EQ(
      failure(run(*store,
                  command::TakeOver{{"scope", "lapsed", lapsed.nonce, 1}, Nonce::random(), lapsed.lease})),
      StoreFailure::full);
  EXPECT_NE(as<result::Claimed>(run(*store, running)), nullptr) << "it exists already";
  EXPECT_NE(as<result::Ok>(run(*store, completion_of(running))), nullptr);
  EXPECT_NE(as<result::Replay>(run(*store, claim_of("running"))), nullptr);
  space.free = 4 << 20;
  EXPECT_NE(as<result::Claimed>(run(*store, claim_of("new"))), nullptr);
}

TEST_F(DiskTest, takes_a_twentieth_of_a_small_disk_for_the_floor) {
  Options options = quick_options();
  options.free_space_floor = 256 << 20;
  space = {20 << 20, 1 << 20};
  const auto store = open(options);
  EXPECT_NE(as<result::Claimed>(run(*store, claim_of("a"))), nullptr);
  space.free = (1 << 20) - 1;
  EXPECT_EQ(failure(run(*store, claim_of("b"))), StoreFailure::full);
}

TEST_F(DiskTest, gives_up_the_ballast_for_completions_and_makes_it_again) {
  Options options = quick_options();
  options.ballast = 1 << 20;
  MonoTime now{};
  options.clocks.mono = [&] { return now; };
  const auto store = open(options);
  ASSERT_TRUE(has_ballast());
  const auto running = claim_of("running");
  run(*store, running);
  faults.on_write = [this](long) { return has_ballast() ? SQLITE_FULL : SQLITE_OK; };
  space.free = 0;
  const std::vector<Command> batch{claim_of("new"), completion_of(running), claim_of("running")};
  const auto outcomes = store->execute(batch);
  EXPECT_EQ(failure(outcomes[0]), StoreFailure::full);
  EXPECT_NE(as<result::Ok>(outcomes[1]), nullptr);
  EXPECT_NE(as<result::Replay>(outcomes[2]), nullptr);
  EXPECT_FALSE(has_ballast());
  EXPECT_FALSE(notices.empty());
  EXPECT_TRUE(last_words.empty());

  now += std::chrono::seconds(2);
  EXPECT_NE(as<result::Replay>(run(*store, claim_of("running"))), nullptr);
  EXPECT_FALSE(has_ballast()) << "the disk is still full";
  faults.on_write = nullptr;
  space.free = 50 << 20;
  now += std::chrono::seconds(2);
  EXPECT_NE(as<result::Claimed>(run(*store, claim_of("new"))), nullptr);
  EXPECT_TRUE(has_ballast());
}

TEST_F(DiskTest, does_not_spend_the_ballast_on_claims_and_sweeps) {
  Options options = quick_options();
  options.ballast = 1 << 20;
  const auto store = open(options);
  const auto swept_soon = claim_of("done");
  run(*store, swept_soon);
  auto completion = completion_of(swept_soon);
  completion.retention = std::chrono::milliseconds(0);
  run(*store, completion);
  faults.on_write = [](long) { return SQLITE_FULL; };
  EXPECT_EQ(failure(run(*store, claim_of("new"))), StoreFailure::full);
  EXPECT_EQ(failure(run(*store, command::Sweep{})), StoreFailure::full);
  EXPECT_TRUE(has_ballast());
  faults.on_write = nullptr;
  EXPECT_NE(as<result::Swept>(run(*store, command::Sweep{})), nullptr);
  EXPECT_NE(as<result::Expired>(run(*store, claim_of("done"))), nullptr);
}

TEST_F(DiskTest, keeps_going_when_even_the_ballast_was_not_enough) {
  const auto store = open();
  const auto running = claim_of("running");
  run(*store, running);
  faults.on_write = [](long) { return SQLITE_FULL; };
  EXPECT_EQ(failure(run(*store, completion_of(running))), StoreFailure::full);
  EXPECT_EQ(failure(run(*store, claim_of("new"))), StoreFailure::full);
  EXPECT_EQ(store->find(OperationId::of("scope", "new")), std::nullopt);
  faults.on_write = nullptr;
  EXPECT_NE(as<result::Ok>(run(*store, completion_of(running))), nullptr);
  EXPECT_NE(as<result::Claimed>(run(*store, claim_of("new"))), nullptr);
  EXPECT_TRUE(last_words.empty());
}

TEST_F(DiskTest, ends_when_a_sync_at_a_commit_fails_and_goes_on_from_the_file) {
  Options options = quick_options();
  options.sync = Options::Sync::full;
  auto store = open(options);
  const auto c = claim_of("k");
  faults.on_sync = [](long) { return SQLITE_IOERR_FSYNC; };
  EXPECT_THROW(run(*store, c), StoreError);
  ASSERT_EQ(last_words.size(), 1U);
  EXPECT_NE(last_words.front().find("commit"), std::string::npos);
  faults.on_sync = nullptr;
  EXPECT_THROW(run(*store, c), StoreError) << "it must not go on after a failed sync";
  EXPECT_THROW(store->find(OperationId::of("scope", "k")), StoreError);
  EXPECT_EQ(last_words.size(), 1U);
  store.reset();
  store = open(options);
  EXPECT_NE(as<result::Claimed>(run(*store, c)), nullptr) << "by its nonce, whether it was written or not";
}

TEST_F(DiskTest, ends_when_a_checkpoint_cannot_be_synced) {
  Options options = quick_options();
  options.free_space_floor = 1 << 20;  // so that the log is short
  const auto store = open(options);
  faults.on_sync = [](long) { return SQLITE_IOERR_FSYNC; };
  bool threw = false;
  for (int i = 0; i < 400 && !threw; ++i) {
    try {
      auto c = claim_of("k" + std::to_string(i));
      c.path = std::string(4000, '/');
      run(*store, c);
    } catch (const StoreError&) {
      threw = true;
    }
  }
  EXPECT_TRUE(threw);
  ASSERT_EQ(last_words.size(), 1U);
  EXPECT_NE(last_words.front().find("checkpoint"), std::string::npos);
}

// Every write and every sync of a life fails in turn, in three ways. Whatever was acknowledged must be there
// afterwards, whatever was refused as not written must not, and nothing may be granted twice.
struct EveryStep : DiskTest, testing::WithParamInterface<int> {
  std::map<std::string, command::Claim> granted;
  std::map<std::string, bool> completed;
  std::map<std::string, bool> refused;

  void live(Store& store) {
    for (int round = 0; round < 6; ++round) {
      std::vector<Command> batch;
      std::vector<command::Claim> claims;
      for (int i = 0; i < 3; ++i) claims.push_back(claim_of(std::to_string(round) + "." + std::to_string(i)));
      batch.assign(claims.begin(), claims.end());
      const auto outcomes = store.execute(batch);
      for (std::size_t i = 0; i < claims.size(); ++i) {
        if (as<result::Claimed>(outcomes[i]) != nullptr) granted.emplace(claims[i].key, claims[i]);
        if (failure(outcomes[i])) refused[claims[i].key] = true;
      }
      for (const auto& c : claims) {
        if (granted.contains(c.key) && as<result::Ok>(run(store, completion_of(c))) != nullptr)
          completed[c.key] = true;
      }
    }
  }

  void check(Store& store) {
    for (const auto& [key, c] : granted) {
      const auto found = store.find(OperationId::of("scope", key));
      ASSERT_TRUE(found) << key << " was granted and is gone";
      EXPECT_EQ(found->token.nonce, c.nonce);
      if (completed.contains(key)) EXPECT_EQ(found->answer, answer_of(key));
      if (found->state == State::completed) EXPECT_EQ(found->answer, answer_of(key));
    }
    for (const auto& [key, yes] : refused) EXPECT_FALSE(store.find(OperationId::of("scope", key))) << key;
  }
};

TEST_P(EveryStep, fails_in_turn_and_nothing_acknowledged_is_lost) {
  constexpr int kMost = 400;
  int n = 1;
  for (; n <= kMost; ++n) {
    SCOPED_TRACE(n);
    granted.clear();
    completed.clear();
    refused.clear();
    last_words.clear();
    const TestFile fresh;
    Options options = quick_options();
    options.sync = Options::Sync::full;
    options.vfs = kFaultyVfs;
    options.die = [this](const std::string& text) { last_words.push_back(text); };
    fresh_faults();
    const auto fail_once = [n](long nth) { return nth == n ? GetParam() : SQLITE_OK; };
    (GetParam() == SQLITE_IOERR_FSYNC ? faults.on_sync : faults.on_write) = fail_once;
    try {
      const auto store = sqlite::open(fresh.path(), options);
      live(*store);
      if (GetParam() == SQLITE_FULL) EXPECT_TRUE(last_words.empty());
    } catch (const StoreError&) {
    }
    const long steps = GetParam() == SQLITE_IOERR_FSYNC ? faults.syncs : faults.writes;
    fresh_faults();
    check(*sqlite::open(fresh.path(), options));
    if (steps < n) break;
  }
  EXPECT_LT(n, kMost) << "the life was longer than the test looked";
  EXPECT_GT(n, 10);
}

INSTANTIATE_TEST_SUITE_P(Disk, EveryStep,
                         testing::Values(SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC),
                         [](const auto& info) {
                           return info.param == SQLITE_FULL          ? "full"
                                  : info.param == SQLITE_IOERR_WRITE ? "write_error"
                                                                     : "sync_error";
                         });

}  // namespace
}  // namespace stet::stores::sqlite
