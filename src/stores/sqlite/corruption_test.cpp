// A damaged record is neither replayed nor run again.

#include "stores/commands_for_test.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/file_for_test.hpp"

namespace stet::stores::sqlite {
namespace {

struct CorruptionTest : testing::Test {
  TestFile file;

  void complete(const std::string& key) {
    const auto store = sqlite::open(file.path(), quick_options());
    const auto c = claim_of(key);
    ASSERT_NE(as<result::Claimed>(run(*store, c)), nullptr);
    ASSERT_NE(as<result::Ok>(run(*store, completion_of(c))), nullptr);
  }
  void damage(const std::string& sql) {
    Database database(file.path(), "");
    database.run(sql);
    ASSERT_GT(sqlite3_changes(database.handle()), 0) << sql;
  }
  Store::Outcome claim_again(const std::string& key) {
    return run(*sqlite::open(file.path(), quick_options()), claim_of(key));
  }
};

// aws-powertools PR2567: a corrupt record was overwritten by two workers.
TEST_F(CorruptionTest, neither_replays_nor_grants_a_claim_whose_row_was_changed) {
  const std::vector<std::string> damages{
      "scope = x'00'",
      "key = x'6b32'",
      "state = 0",
      "state = 2",
      "state = 77",
      "nonce = zeroblob(16)",
      "nonce = x''",
      "attempt = 2",
      "attempt = -1",
      "maybe_executed = 1",
      "fingerprint = randomblob(32)",
      "fingerprint = x''",
      "recipe = x'7632'",
      "method = x'50'",
      "path = x'2f'",
      "scope_rule = x'78'",
      "on_unknown = 1",
      "on_unknown = 9",
      "retention_ms = 1",
      "tombstone_ms = 0",
      "recovery_point = x'78'",
      "created_ms = 0",
      "expires_ms = 0",
      "expires_ms = NULL",
      "checksum = zeroblob(16)",
      "checksum = x''",
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    const std::string key = "k" + std::to_string(i);
    complete(key);
    damage("UPDATE claims SET " + damages[i] + " WHERE key = CAST('" + key + "' AS BLOB)");
    EXPECT_EQ(failure(claim_again(key)), StoreFailure::corrupt) << damages[i];
  }
}

TEST_F(CorruptionTest, does_not_replay_an_answer_that_was_changed) {
  const std::vector<std::string> damages{"status = 200",
                                         "status = -1",
                                         "kept = 1",
                                         "kept = 7",
                                         "headers = x''",
                                         "headers = x'ff'",
                                         "body = x'6f74686572'",
                                         "body = x''",
                                         "checksum = zeroblob(16)"};
  for (std::size_t i = 0; i < damages.size(); ++i) {
    const std::string key = "k" + std::to_string(i);
    complete(key);
    damage("UPDATE answers SET " + damages[i] + " WHERE row = (SELECT max(row) FROM answers)");
    EXPECT_EQ(failure(claim_again(key)), StoreFailure::corrupt) << damages[i];
  }
}

TEST_F(CorruptionTest, does_not_take_one_rows_content_for_anothers) {
  complete("a");
  complete("b");
  damage(
      "UPDATE answers SET (status, kept, checksum, headers, body) = "
      "(SELECT status, kept, checksum, headers, body FROM answers WHERE row = 1) WHERE row = 2");
  EXPECT_EQ(failure(claim_again("b")), StoreFailure::corrupt);
  EXPECT_NE(as<result::Replay>(claim_again("a")), nullptr);
  damage("DELETE FROM answers WHERE row = 1");
  EXPECT_EQ(failure(claim_again("a")), StoreFailure::corrupt);
}

TEST_F(CorruptionTest, does_not_grant_a_key_whose_claim_is_missing) {
  complete("k");
  damage("DELETE FROM claims");
  EXPECT_EQ(failure(claim_again("k")), StoreFailure::corrupt);
}

TEST_F(CorruptionTest, makes_a_damaged_tag_again_from_its_record) {
  complete("a");
  complete("b");
  damage("UPDATE keys SET tag = tag + 1 WHERE row = 1");
  EXPECT_NE(as<result::Replay>(claim_again("a")), nullptr);
  damage("UPDATE keys SET guard = guard + 1 WHERE row = 2");
  EXPECT_NE(as<result::Replay>(claim_again("b")), nullptr);
}

TEST_F(CorruptionTest, does_not_start_when_nobody_can_say_which_key_a_row_excludes) {
  complete("k");
  damage("UPDATE keys SET tag = tag + 1");
  damage("UPDATE claims SET key = x'00'");
  try {
    sqlite::open(file.path(), quick_options());
    FAIL() << "it started";
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreFailure::corrupt);
    EXPECT_NE(std::string(error.what()).find("row 1"), std::string::npos);
  }
}

TEST_F(CorruptionTest, fails_the_damaged_command_and_not_its_batch) {
  complete("bad");
  damage("UPDATE claims SET attempt = 9");
  const auto store = sqlite::open(file.path(), quick_options());
  const std::vector<Command> batch{claim_of("x"), claim_of("bad"), claim_of("y")};
  const auto outcomes = store->execute(batch);
  EXPECT_NE(as<result::Claimed>(outcomes[0]), nullptr);
  EXPECT_EQ(failure(outcomes[1]), StoreFailure::corrupt);
  EXPECT_NE(as<result::Claimed>(outcomes[2]), nullptr);
}

TEST_F(CorruptionTest, leaves_a_damaged_record_out_of_the_sweep_and_excluded) {
  complete("bad");
  complete("good");
  damage("UPDATE claims SET attempt = 9 WHERE row = 1");
  Options options = quick_options();
  WallTime now =
      std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()) + std::chrono::hours(48);
  options.clocks.wall = [&] { return now; };
  std::vector<std::string> notices;
  options.notice = [&](std::string_view text) { notices.emplace_back(text); };
  const auto store = sqlite::open(file.path(), options);
  const auto outcome = run(*store, command::Sweep{});
  const auto* swept = as<result::Swept>(outcome);
  ASSERT_NE(swept, nullptr);
  EXPECT_EQ(swept->expired, 1U);
  EXPECT_EQ(notices.size(), 1U);
  EXPECT_EQ(failure(run(*store, claim_of("bad"))), StoreFailure::corrupt);
  EXPECT_NE(as<result::Expired>(run(*store, claim_of("good"))), nullptr);
  EXPECT_EQ(store->list({}, 10, "").records.size(), 1U);
  EXPECT_THROW(store->find(OperationId::of("scope", "bad")), StoreError);
}

TEST_F(CorruptionTest, sweeps_by_the_record_when_the_list_of_what_is_due_is_wrong) {
  complete("k");
  damage("UPDATE due SET at_ms = 0");
  const auto store = sqlite::open(file.path(), quick_options());
  run(*store, command::Sweep{});
  EXPECT_NE(as<result::Replay>(run(*store, claim_of("k"))), nullptr);
}

}  // namespace
}  // namespace stet::stores::sqlite
