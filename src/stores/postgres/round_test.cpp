#include "stores/postgres/round.hpp"

#include <gtest/gtest.h>

namespace stet::stores::postgres {
namespace {

Command completion_of(std::size_t bytes) {
  command::Complete complete;
  complete.answer.body.assign(bytes, 'x');
  return complete;
}

// limits.buffered_bodies bounds what may come together; a message to the server ends at 1 GiB, and by then
// every statement would be refused, with all that is in it, each time anew.
TEST(Parts, hold_no_more_of_large_answers_than_a_statement_takes) {
  const std::vector<Command> batch{completion_of(9 << 20), completion_of(100),     command::Release{},
                                   completion_of(9 << 20), completion_of(6 << 20), completion_of(40 << 20),
                                   command::Claim{}};
  EXPECT_EQ(parts_of(batch, {0, 1, 2, 3, 4, 5, 6}), (std::vector<Places>{{0, 1, 2}, {3, 4}, {5, 6}}));
}

TEST(Parts, are_one_for_what_is_small_and_none_for_nothing) {
  const std::vector<Command> batch(256, completion_of(10'000));
  Places all(batch.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  EXPECT_EQ(parts_of(batch, all).size(), 1U);
  EXPECT_TRUE(parts_of(batch, {}).empty());
}

}  // namespace
}  // namespace stet::stores::postgres
