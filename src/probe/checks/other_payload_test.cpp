#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(OtherPayload, passes_where_a_used_key_with_another_body_is_refused) {
  EXPECT_EQ(probe_with(checks::other_payload, Flaw::none).result, Result::pass);
}

TEST(OtherPayload, fails_where_the_first_answer_comes_for_any_body) {
  const Finding finding = probe_with(checks::other_payload, Flaw::replays_any_payload);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::lost);
}

TEST(OtherPayload, fails_where_the_other_body_takes_effect) {
  const Finding finding = probe_with(checks::other_payload, Flaw::ignores_keys);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::doubled);
}

TEST(OtherPayload, proves_nothing_with_a_body_that_is_refused_under_any_key) {
  const ToyApi api(Flaw::none);
  Settings settings = api.settings();
  settings.other_body = R"({"amount":-1})";
  const Finding finding = probe_with(checks::other_payload, settings);
  EXPECT_EQ(finding.result, Result::skip);
  EXPECT_NE(finding.saw.find("--other-body"), std::string::npos);
}

}  // namespace
}  // namespace stet::probe::testing
