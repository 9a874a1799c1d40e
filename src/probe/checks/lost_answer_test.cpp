#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(LostAnswer, passes_where_the_retry_gets_what_was_lost) {
  EXPECT_EQ(probe_with(checks::lost_answer, Flaw::none).result, Result::pass);
}

TEST(LostAnswer, fails_where_the_retry_acts_again) {
  const Finding finding = probe_with(checks::lost_answer, Flaw::ignores_keys);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::doubled);
}

TEST(LostAnswer, fails_where_the_retry_gets_something_else) {
  const Finding finding = probe_with(checks::lost_answer, Flaw::bare_replay);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::answer);
}

}  // namespace
}  // namespace stet::probe::testing
