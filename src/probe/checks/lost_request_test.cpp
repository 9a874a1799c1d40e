#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(LostRequest, passes_where_half_a_request_does_nothing) {
  const Finding finding = probe_with(checks::lost_request, Flaw::none);
  EXPECT_EQ(finding.result, Result::pass) << finding.saw;
}

TEST(LostRequest, fails_where_half_a_request_takes_effect) {
  const ToyApi api(Flaw::acts_on_half_a_request);
  Settings settings = api.settings();
  settings.settling.settle = std::chrono::seconds(1);  // no answer says when it has acted
  const Finding finding = probe_with(checks::lost_request, settings);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.worst, "half a request took effect");
}

}  // namespace
}  // namespace stet::probe::testing
