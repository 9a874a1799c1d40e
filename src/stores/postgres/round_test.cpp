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

// In lists of one it would cost the server more than twice as much.
TEST(Round, of_one_claim_or_completion_goes_as_it_is_where_that_is_asked_for) {
  command::Claim claim;
  claim.scope = "hotel";
  claim.key = "k";
  const std::vector<Command> batch{claim, completion_of(100), command::Release{}};
  const auto sent = [&](Places places) {
    Round round(batch, std::move(places), Foreign::wait, Single::as_it_is);
    return std::pair(round.statement(Caller::session_of_application), round.parameters().types()[0]);
  };
  constexpr std::uint32_t kBytes = 17;
  constexpr std::uint32_t kListOfBytes = 1001;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(sent({0}),
              std::pair(std::string("SELECT stet.claim_as_app($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13)"),
                        kBytes));
    EXPECT_EQ(sent({1}),
              std::pair(std::string("SELECT stet.complete_as_app($1,$2,$3,$4,$5,$6,$7,$8,$9)"), kBytes));
    EXPECT_EQ(sent({0, 1}).second, kListOfBytes);
    EXPECT_EQ(sent({2}).second, kListOfBytes);
  }
}

}  // namespace
}  // namespace stet::stores::postgres
