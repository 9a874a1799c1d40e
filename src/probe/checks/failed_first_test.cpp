#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(FailedFirst, passes_where_a_refusal_is_repeated) {
  EXPECT_EQ(probe_with(checks::failed_first, Flaw::none).result, Result::pass);
}

TEST(FailedFirst, fails_where_the_retry_of_a_refusal_hears_something_else) {
  const Finding finding = probe_with(checks::failed_first, Flaw::fails_differently_on_retry);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::answer);
}

TEST(FailedFirst, passes_where_an_outage_of_the_downstream_passes) {
  const ToyApi api(Flaw::none, EffectKind::downstream);
  const Finding finding = probe_with(checks::failed_first, api.settings());
  EXPECT_EQ(finding.result, Result::pass) << finding.saw;
}

TEST(FailedFirst, fails_where_a_passing_error_stays_with_the_key) {
  const ToyApi api(Flaw::pins_passing_errors, EffectKind::downstream);
  const Finding finding = probe_with(checks::failed_first, api.settings());
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::stuck);
}

}  // namespace
}  // namespace stet::probe::testing
