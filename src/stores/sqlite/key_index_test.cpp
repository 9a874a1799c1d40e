#include "stores/sqlite/key_index.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace stet::stores::sqlite {
namespace {

std::set<Row> candidates(const KeyIndex& index, Tag tag) {
  std::set<Row> rows;
  index.any(tag, [&](Row row) {
    rows.insert(row);
    return false;
  });
  return rows;
}

TEST(KeyIndex, knows_nothing_at_first) {
  KeyIndex index;
  EXPECT_TRUE(candidates(index, 0).empty());
  EXPECT_FALSE(index.remove(0, 1));
}

TEST(KeyIndex, gives_every_row_of_equal_tags) {
  KeyIndex index;
  for (Row row = 1; row <= 20; ++row) index.add(7, row);
  EXPECT_EQ(candidates(index, 7).size(), 20U);
  EXPECT_TRUE(index.remove(7, 11));
  EXPECT_FALSE(index.remove(7, 11));
  EXPECT_FALSE(candidates(index, 7).contains(11));
  EXPECT_EQ(candidates(index, 7).size(), 19U);
}

TEST(KeyIndex, stops_looking_when_the_row_is_found) {
  KeyIndex index;
  for (Row row = 1; row <= 5; ++row) index.add(7, row);
  int looks = 0;
  EXPECT_TRUE(index.any(7, [&](Row) { return ++looks == 2; }));
  EXPECT_EQ(looks, 2);
}

// Against a map, with few shards' worth of tags so that clusters, holes and growth all happen.
TEST(KeyIndex, agrees_with_a_map_through_a_long_random_life) {
  std::mt19937_64 random(20260301);
  KeyIndex index;
  std::multimap<Tag, Row> truth;
  for (Row row = 1; row <= 60'000; ++row) {
    const Tag tag = random() % 5 << 10 | (random() % 2'000) << 20;
    if (random() % 3 != 0 || truth.empty()) {
      index.add(tag, row);
      truth.emplace(tag, row);
    } else {
      const auto victim = truth.lower_bound(tag) == truth.end() ? truth.begin() : truth.lower_bound(tag);
      ASSERT_TRUE(index.remove(victim->first, victim->second));
      truth.erase(victim);
    }
  }
  EXPECT_EQ(index.size(), truth.size());
  for (auto at = truth.begin(); at != truth.end(); at = truth.upper_bound(at->first)) {
    std::set<Row> wanted;
    for (auto [i, end] = truth.equal_range(at->first); i != end; ++i) wanted.insert(i->second);
    ASSERT_EQ(candidates(index, at->first), wanted);
  }
}

TEST(KeyIndex, needs_no_more_than_forty_bytes_a_key) {
  std::mt19937_64 random(1);
  KeyIndex index;
  for (Row row = 1; row <= 1'000'000; ++row) index.add(random(), row);
  EXPECT_LT(index.memory(), 40'000'000U);
}

}  // namespace
}  // namespace stet::stores::sqlite
