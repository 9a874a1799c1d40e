#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(Repeat, passes_where_the_answer_comes_again) {
  EXPECT_EQ(probe_with(checks::repeat, Flaw::none).result, Result::pass);
}

TEST(Repeat, fails_where_the_second_copy_acts_again) {
  const Finding finding = probe_with(checks::repeat, Flaw::ignores_keys);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::doubled);
  EXPECT_EQ(finding.worst, "a request that was sent twice took effect twice");
  ASSERT_GE(finding.reproduce.size(), 2U);
  EXPECT_TRUE(finding.reproduce.front().starts_with("curl -i -X POST "));
}

TEST(Repeat, fails_where_the_second_answer_is_bare) {
  const Finding finding = probe_with(checks::repeat, Flaw::bare_replay);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::answer);
  EXPECT_NE(finding.worst.find("status 201 became 200"), std::string::npos);
}

TEST(Repeat, sees_a_bare_answer_even_when_nothing_counts_effects) {
  const ToyApi api(Flaw::bare_replay);
  Settings settings = api.settings();
  settings.effects = {};
  EXPECT_EQ(probe_with(checks::repeat, settings).result, Result::fail);
}

}  // namespace
}  // namespace stet::probe::testing
