#include "stores/answer_cache.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace stet::stores {
namespace {

Record completed(const std::string& key, std::size_t body = 10) {
  Record r;
  r.token.scope = "scope";
  r.token.key = key;
  r.state = State::completed;
  r.fingerprint.recipe = "v1";
  r.answer = Answer{201, {}, std::string(body, 'x'), Kept::whole};
  return r;
}

command::Claim claim(const std::string& key) {
  command::Claim c;
  c.scope = "scope";
  c.key = key;
  c.fingerprint.recipe = "v1";
  return c;
}

TEST(AnswerCache, answers_exactly_the_request_that_was_answered) {
  AnswerCache cache(1 << 20);
  cache.keep(completed("k"));
  EXPECT_EQ(cache.replay(claim("k"))->answer, completed("k").answer);
  EXPECT_FALSE(cache.replay(claim("K")));
  auto other = claim("k");
  other.fingerprint.recipe = "v2";
  EXPECT_FALSE(cache.replay(other));
  other = claim("k");
  other.fingerprint.digest[31] = 1;
  EXPECT_FALSE(cache.replay(other));
  other = claim("k");
  other.scope = "another";
  EXPECT_FALSE(cache.replay(other));
}

TEST(AnswerCache, forgets_what_was_dropped) {
  AnswerCache cache(1 << 20);
  cache.keep(completed("k"));
  cache.drop(completed("k").id());
  EXPECT_FALSE(cache.replay(claim("k")));
  cache.drop(completed("k").id());
  cache.keep(completed("k", 20));
  EXPECT_EQ(cache.replay(claim("k"))->answer.body.size(), 20U);
}

// Where others sweep, too, an answer is good until its retention may be over, and then another one may take
// its place.
TEST(AnswerCache, is_silent_about_what_somebody_else_may_have_swept) {
  AnswerCache cache(1 << 20);
  const MonoTime now{std::chrono::hours(1)};
  cache.keep(completed("k"), now + std::chrono::seconds(5));
  EXPECT_TRUE(cache.replay(claim("k"), now));
  EXPECT_FALSE(cache.replay(claim("k"), now + std::chrono::seconds(5)));
  cache.keep(completed("k", 20), now + std::chrono::seconds(10));
  EXPECT_EQ(cache.replay(claim("k"), now + std::chrono::seconds(5))->answer.body.size(), 20U);
}

TEST(AnswerCache, stays_within_its_bytes_and_keeps_the_young) {
  AnswerCache cache(1 << 20);
  for (int i = 0; i < 5000; ++i) cache.keep(completed(std::to_string(i), 1000));
  int kept = 0;
  for (int i = 0; i < 5000; ++i) kept += cache.replay(claim(std::to_string(i))) ? 1 : 0;
  EXPECT_LT(kept, 1100);
  EXPECT_GT(kept, 300);
  EXPECT_TRUE(cache.replay(claim("4999")));
  EXPECT_FALSE(cache.replay(claim("0")));
}

// A key that is swept and used again is young, and its old place must not stay behind: where one answer is
// kept for ever, those of all others would pile up.
TEST(AnswerCache, forgets_the_place_of_what_was_dropped) {
  std::vector<std::string> keys;  // of one shard, which takes three of their answers
  for (int i = 0; keys.size() < 5; ++i) {
    const std::string key = std::to_string(i);
    if (completed(key).id().bytes.back() % 16 == 0) keys.push_back(key);
  }
  AnswerCache cache(16 * 15'000);
  const auto keep = [&](int i) { cache.keep(completed(keys[static_cast<std::size_t>(i)], 4000)); };
  keep(1);
  keep(0);
  cache.drop(completed(keys[0]).id());
  keep(2);
  keep(0);
  keep(3);
  keep(4);
  EXPECT_FALSE(cache.replay(claim(keys[2])));
  EXPECT_TRUE(cache.replay(claim(keys[0])));
}

TEST(AnswerCache, leaves_out_what_would_push_everything_else_out) {
  AnswerCache cache(1 << 20);
  cache.keep(completed("large", 1 << 20));
  EXPECT_FALSE(cache.replay(claim("large")));
}

TEST(AnswerCache, can_be_read_while_it_is_filled) {
  AnswerCache cache(1 << 18);
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        const auto replay = cache.replay(claim(std::to_string(i % 500)));
        if (replay) EXPECT_EQ(replay->answer.body.size(), 100U);
      }
    });
  }
  for (int i = 0; i < 20'000; ++i) {
    cache.keep(completed(std::to_string(i % 500), 100));
    if (i % 7 == 0) cache.drop(completed(std::to_string(i % 500)).id());
  }
  for (auto& reader : readers) reader.join();
}

}  // namespace
}  // namespace stet::stores
