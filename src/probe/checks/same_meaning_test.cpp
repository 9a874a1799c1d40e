#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(SameMeaning, passes_where_spelling_does_not_matter) {
  EXPECT_EQ(probe_with(checks::same_meaning, Flaw::none).result, Result::pass);
}

TEST(SameMeaning, fails_where_bodies_are_compared_as_bytes) {
  const Finding finding = probe_with(checks::same_meaning, Flaw::compares_bytes);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_NE(finding.worst.find("status 201 became 422"), std::string::npos);
}

TEST(SameMeaning, is_skipped_for_a_body_that_is_not_JSON) {
  const ToyApi api(Flaw::none);
  Settings settings = api.settings();
  settings.request.body = "amount=4900";
  settings.request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  EXPECT_EQ(probe_with(checks::same_meaning, settings).result, Result::skip);
}

}  // namespace
}  // namespace stet::probe::testing
