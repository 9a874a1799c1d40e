#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(AtOnce, passes_where_one_wins_and_the_others_are_told_to_wait) {
  const Finding finding = probe_with(checks::at_once, Flaw::none);
  EXPECT_EQ(finding.result, Result::pass) << finding.saw;
}

TEST(AtOnce, fails_where_the_key_is_looked_up_before_it_is_noted) {
  const Finding finding = probe_with(checks::at_once, Flaw::looks_then_acts);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::doubled);
  EXPECT_TRUE(finding.worst.starts_with("simultaneous requests with one key took effect ")) << finding.worst;
}

TEST(AtOnce, sees_the_race_in_the_answers_when_nothing_counts_effects) {
  const ToyApi api(Flaw::looks_then_acts);
  Settings settings = api.settings();
  settings.effects = {};
  const Finding finding = probe_with(checks::at_once, settings);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::answer);
}

}  // namespace
}  // namespace stet::probe::testing
