#include "admin/list_query.hpp"

#include <gtest/gtest.h>

namespace stet::admin {
namespace {

TEST(ListQuery, is_everything_when_empty) {
  const auto query = parse_list_query("");
  ASSERT_TRUE(query.has_value());
  EXPECT_EQ(query->limit, 100U);
  EXPECT_FALSE(query->filter.state || query->filter.scope || query->filter.key ||
               query->filter.created_before);
  EXPECT_EQ(query->cursor, "");
}

TEST(ListQuery, reads_every_filter_and_its_escapes) {
  const auto query = parse_list_query(
      "state=completed&scope=alice&key=a%20%26b&limit=1000&cursor=x%3D&created_before=2026-01-31T09:05:00Z");
  ASSERT_TRUE(query.has_value()) << query.error();
  EXPECT_EQ(query->filter.state, State::completed);
  EXPECT_EQ(query->filter.scope, "alice");
  EXPECT_EQ(query->filter.key, "a &b");
  EXPECT_EQ(query->limit, 1000U);
  EXPECT_EQ(query->cursor, "x=");
  EXPECT_TRUE(query->filter.created_before.has_value());
}

TEST(ListQuery, takes_an_empty_filter_for_none) {
  const auto query = parse_list_query("state=&scope=&key=&limit=&cursor=");
  ASSERT_TRUE(query.has_value());
  EXPECT_FALSE(query->filter.state || query->filter.scope || query->filter.key);
}

TEST(ListQuery, refuses_what_it_would_have_to_ignore) {
  for (const char* query : {"stat=unknown", "state=lost", "limit=0", "limit=1001", "limit=-1", "limit=1x",
                            "key=%zz", "state=unknown&state=pending", "created_before=yesterday"}) {
    EXPECT_FALSE(parse_list_query(query).has_value()) << query;
  }
}

}  // namespace
}  // namespace stet::admin
