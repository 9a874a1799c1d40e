// The store as the gateway uses it: behind the committer, with peeks from many threads.

#include <atomic>
#include <future>
#include <mutex>
#include <random>
#include <thread>

#include "stores/commands_for_test.hpp"
#include "stores/committer/committer.hpp"
#include "stores/sqlite/file_for_test.hpp"

namespace stet::stores::sqlite {
namespace {

Store::Outcome submit(Committer& committer, Command command) {
  std::promise<Store::Outcome> promise;
  auto outcome = promise.get_future();
  committer.submit(std::move(command), [&](Store::Outcome o) { promise.set_value(std::move(o)); });
  return outcome.get();
}

// One answer a key for its whole life, whoever asks, while others claim, complete and sweep.
TEST(Concurrency, shows_every_thread_the_one_answer_of_a_key) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 400;
  constexpr int kKeys = 40;
  const TestFile file;
  Options options = quick_options();
  options.cached_answers = 200'000;
  Committer committer(sqlite::open(file.path(), options));
  std::array<std::atomic<int>, kKeys> effects{};
  std::atomic<int> replays{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int round = 0; round < kRounds; ++round) {
        const std::size_t n = random() % kKeys;
        const auto c = claim_of("k" + std::to_string(n));
        const auto outcome = submit(committer, c);
        if (as<result::Claimed>(outcome) != nullptr) {
          effects[n].fetch_add(1);
          EXPECT_NE(as<result::Ok>(submit(committer, completion_of(c))), nullptr);
        } else if (const auto* replay = as<result::Replay>(outcome)) {
          replays.fetch_add(1);
          EXPECT_EQ(replay->answer, answer_of(c.key));
        } else {
          EXPECT_NE(as<result::InProgress>(outcome), nullptr);
        }
        if (round % 50 == 0) submit(committer, command::Sweep{});
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& effect : effects) EXPECT_LE(effect.load(), 1);
  EXPECT_GT(replays.load(), kThreads * kRounds / 2);
  EXPECT_GT(committer.stats().peeked, 0U);
}

}  // namespace
}  // namespace stet::stores::sqlite
