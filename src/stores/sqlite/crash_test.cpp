// kill -9 at any moment: what was acknowledged is there, and the index grows from the file again.

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <set>
#include <thread>

#include "stores/commands_for_test.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/file_for_test.hpp"

namespace stet::stores::sqlite {
namespace {

struct Acknowledged {
  std::uint32_t claim = 0;     // the number of the key
  std::uint32_t complete = 0;  // 1: its answer, too
};

// Claims and completes numbered keys for ever and tells the pipe what was acknowledged.
[[noreturn]] void subject(const std::string& path, int pipe, std::uint32_t first) {
  Options options;
  options.ballast = 0;
  options.free_space_floor = 1 << 20;
  const auto store = sqlite::open(path, options);
  for (std::uint32_t n = first;; n += 8) {
    std::vector<Command> claims;
    std::vector<Command> completions;
    for (std::uint32_t i = n; i < n + 8; ++i) {
      const auto c = claim_of(std::to_string(i));
      claims.emplace_back(c);
      completions.emplace_back(completion_of(c));
    }
    const auto tell = [&](std::uint32_t complete) {
      for (std::uint32_t i = n; i < n + 8; ++i) {
        const Acknowledged line{i, complete};
        if (::write(pipe, &line, sizeof line) != sizeof line) ::_exit(1);
      }
    };
    store->execute(claims);
    tell(0);
    store->execute(completions);
    tell(1);
  }
}

TEST(Crash, loses_nothing_that_was_acknowledged) {
  const TestFile file;
  std::mt19937 random(20260301);
  std::uint32_t next = 0;
  std::set<std::uint32_t> claimed;
  std::set<std::uint32_t> completed;
  for (int kill = 0; kill < 15 || (completed.size() <= 50 && kill < 500); ++kill) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      subject(file.path(), ends[1], next);
    }
    ::close(ends[1]);
    Acknowledged line;
    const auto read_one = [&] { return ::read(ends[0], &line, sizeof line) == sizeof line; };
    const auto note = [&] {
      (line.complete != 0 ? completed : claimed).insert(line.claim);
      next = std::max(next, line.claim + 8);
    };
    ASSERT_TRUE(read_one()) << "the child never acknowledged anything";
    note();
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(random() % 30'000);
    while (std::chrono::steady_clock::now() < until && read_one()) note();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (read_one()) note();
    ::close(ends[0]);
    next += 64;

    const auto store = sqlite::open(file.path(), quick_options());
    for (const std::uint32_t n : claimed) {
      const auto outcome = run(*store, claim_of(std::to_string(n)));
      ASSERT_FALSE(failure(outcome)) << n;
      ASSERT_EQ(as<result::Claimed>(outcome), nullptr) << n << " was granted twice";
    }
    for (const std::uint32_t n : completed) {
      const auto outcome = run(*store, claim_of(std::to_string(n)));
      const auto* replay = as<result::Replay>(outcome);
      ASSERT_NE(replay, nullptr) << n;
      ASSERT_EQ(replay->answer, answer_of(std::to_string(n)));
    }
  }
  EXPECT_GT(completed.size(), 50U);
  Database database(file.path(), "");
  EXPECT_EQ(database.text("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(
      database.integer("SELECT count(*) FROM claims c LEFT JOIN keys k USING (row) WHERE k.row IS NULL"), 0);
  EXPECT_EQ(database.integer("SELECT count(*) FROM claims c LEFT JOIN answers a USING (row) "
                             "WHERE c.state = 1 AND a.row IS NULL"),
            0);
}

}  // namespace
}  // namespace stet::stores::sqlite
