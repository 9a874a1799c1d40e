#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(OtherCaller, passes_where_callers_are_kept_apart) {
  EXPECT_EQ(probe_with(checks::other_caller, Flaw::none).result, Result::pass);
}

TEST(OtherCaller, fails_where_one_caller_sees_the_answer_of_another) {
  const Finding finding = probe_with(checks::other_caller, Flaw::one_scope_for_all);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::leaked);
}

TEST(OtherCaller, is_skipped_without_another_caller) {
  const ToyApi api(Flaw::none);
  Settings settings = api.settings();
  settings.other_auth.clear();
  EXPECT_EQ(probe_with(checks::other_caller, settings).result, Result::skip);
}

}  // namespace
}  // namespace stet::probe::testing
