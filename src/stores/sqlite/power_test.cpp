// The power goes: of what was not synced the disk keeps any sectors and loses the others.

#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "stores/commands_for_test.hpp"
#include "stores/sqlite/faulty_vfs_for_test.hpp"
#include "stores/sqlite/file_for_test.hpp"

namespace stet::stores::sqlite {
namespace {

constexpr std::size_t kSector = 512;

class PowerTest : public testing::Test {
 protected:
  void TearDown() override { record_disk(Recording::off); }

  // One life up to a power cut: what was acknowledged before it.
  struct Life {
    std::vector<command::Claim> claimed;
    std::vector<std::string> completed;
  };
  Life live_and_cut(Options::Sync sync, const TestFile& after, std::mt19937& random) {
    const TestFile before;
    Faults& faults = fresh_faults();
    record_disk(Recording::on);
    Options options = quick_options();
    options.sync = sync;
    options.vfs = kFaultyVfs;
    options.free_space_floor = 1 << 20;  // a short log, so that checkpoints happen
    const auto store = sqlite::open(before.path(), options);
    Life life;
    Life at_cut;
    std::map<std::string, DiskFile> disk;
    // In the middle of a commit or a checkpoint: what is acknowledged later than this moment does not count.
    const long moment = faults.writes + static_cast<long>(random() % 600);
    faults.on_write = [&](long nth) {
      if (nth == moment) {
        at_cut = life;
        disk = recorded_disk();
      }
      return SQLITE_OK;
    };
    for (int round = 0; round < 40 && disk.empty(); ++round) live(*store, life, random);
    if (disk.empty()) {
      at_cut = life;
      disk = recorded_disk();
    }
    cut(disk, after, random);
    record_disk(Recording::off);
    faults.on_write = nullptr;
    return at_cut;
  }

  static void check(const Life& life, const TestFile& after, int& lost) {
    const auto store = sqlite::open(after.path(), quick_options());
    for (const auto& c : life.claimed) {
      const auto found = store->find(OperationId::of(c.scope, c.key));
      if (!found || found->token.nonce != c.nonce) ++lost;
    }
    for (const auto& key : life.completed) {
      const auto found = store->find(OperationId::of("scope", key));
      if (!found || found->answer != answer_of(key)) ++lost;
    }
  }

 private:
  static void live(Store& store, Life& life, std::mt19937& random) {
    std::vector<Command> batch;
    std::vector<command::Claim> claims;
    for (int i = 0; i < 4; ++i)
      claims.push_back(claim_of("k" + std::to_string(life.claimed.size() + claims.size())));
    for (auto& c : claims) c.path = std::string(random() % 3000, '/');
    batch.assign(claims.begin(), claims.end());
    for (const auto& outcome : store.execute(batch)) ASSERT_NE(as<result::Claimed>(outcome), nullptr);
    life.claimed.insert(life.claimed.end(), claims.begin(), claims.end());
    batch.clear();
    for (std::size_t i = 0; i < 3; ++i) batch.emplace_back(completion_of(claims[i]));
    for (const auto& outcome : store.execute(batch)) ASSERT_NE(as<result::Ok>(outcome), nullptr);
    for (std::size_t i = 0; i < 3; ++i) life.completed.push_back(claims[i].key);
  }

  static void cut(const std::map<std::string, DiskFile>& disk, const TestFile& after, std::mt19937& random) {
    for (const auto& [path, file] : disk) {
      std::string image = file.synced;
      for (const DiskFile::Write& write : file.since) {
        for (std::size_t from = 0; from < write.bytes.size(); from += kSector) {
          if (random() % 2 == 0) continue;
          const std::string sector = write.bytes.substr(from, kSector);
          const std::size_t at = static_cast<std::size_t>(write.at) + from;
          if (image.size() < at + sector.size()) image.resize(at + sector.size());
          image.replace(at, sector.size(), sector);
        }
      }
      const std::string name = std::filesystem::path(path).filename().string();
      std::ofstream(std::filesystem::path(after.directory()) / name, std::ios::binary) << image;
    }
  }
};

TEST_F(PowerTest, takes_nothing_that_was_acknowledged) {
  std::mt19937 random(20260301);
  int lost = 0;
  std::size_t acknowledged = 0;
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(i);
    const TestFile after;
    const Life life = live_and_cut(Options::Sync::full, after, random);
    acknowledged += life.claimed.size();
    check(life, after, lost);
  }
  EXPECT_EQ(lost, 0);
  EXPECT_GT(acknowledged, 1000U);
}

// What the option is documented to give up; and the proof that the test above can see a loss.
TEST_F(PowerTest, takes_acknowledged_operations_when_only_a_crash_is_to_be_survived) {
  std::mt19937 random(20260301);
  int lost = 0;
  for (int i = 0; i < 10; ++i) {
    const TestFile after;
    check(live_and_cut(Options::Sync::os, after, random), after, lost);
  }
  EXPECT_GT(lost, 0);
}

}  // namespace
}  // namespace stet::stores::sqlite
