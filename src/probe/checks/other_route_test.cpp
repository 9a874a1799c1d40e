#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(OtherRoute, passes_where_another_route_is_another_operation) {
  EXPECT_EQ(probe_with(checks::other_route, Flaw::none).result, Result::pass);
}

TEST(OtherRoute, fails_where_the_key_alone_is_looked_up) {
  const Finding finding = probe_with(checks::other_route, Flaw::replays_on_any_route);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::lost);
}

TEST(OtherRoute, is_skipped_without_another_route) {
  const ToyApi api(Flaw::none);
  Settings settings = api.settings();
  settings.other.reset();
  EXPECT_EQ(probe_with(checks::other_route, settings).result, Result::skip);
}

}  // namespace
}  // namespace stet::probe::testing
