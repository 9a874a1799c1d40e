#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(KeyForms, passes_where_quotes_do_not_matter_and_odd_keys_are_refused) {
  const Finding finding = probe_with(checks::key_forms, Flaw::none);
  EXPECT_EQ(finding.result, Result::pass) << finding.saw;
}

TEST(KeyForms, fails_where_an_empty_key_is_accepted) {
  const Finding finding = probe_with(checks::key_forms, Flaw::accepts_odd_keys);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_NE(finding.worst.find("an empty key"), std::string::npos);
}

}  // namespace
}  // namespace stet::probe::testing
