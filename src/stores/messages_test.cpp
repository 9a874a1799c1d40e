#include "stores/messages.hpp"

#include <gtest/gtest.h>

namespace stet::stores {
namespace {

const std::string kNul("a\0b", 3);

TEST(Messages, are_taken_when_every_database_can_hold_them_and_everybody_can_send_them) {
  EXPECT_NO_THROW(must_fit({"order.created", kNul + "\xff", "alice", {{"X-Trace", "é \t 1"}, {"a", ""}}}));
  EXPECT_NO_THROW(must_fit({"", "", "", {}}));
  EXPECT_NO_THROW(must_fit("provider", "evt_1"));
}

TEST(Messages, are_refused_before_anything_is_written_otherwise) {
  for (const Message& message :
       {Message{kNul, "", {}, {}}, Message{"\xff", "", {}, {}}, Message{"t", "", kNul, {}},
        Message{"t", "", {}, {{"", "b"}}}, Message{"t", "", {}, {{"a b", "c"}}},
        Message{"t", "", {}, {{"a:", "c"}}}, Message{"t", "", {}, {{"a", kNul}}},
        Message{"t", "", {}, {{"a", "b\r\nc: d"}}}, Message{"t", "", {}, {{"a", "\xe9"}}},
        Message{"t", "", {}, {{"a", "\x7f"}}}}) {
    EXPECT_THROW(must_fit(message), StoreError);
  }
  EXPECT_THROW(must_fit(kNul, "evt_1"), StoreError);
  EXPECT_THROW(must_fit("provider", "\xc0\x80"), StoreError);
}

}  // namespace
}  // namespace stet::stores
