#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(NewIntent, passes_where_the_key_alone_tells_operations_apart) {
  const Finding finding = probe_with(checks::new_intent, Flaw::none);
  EXPECT_EQ(finding.result, Result::pass) << finding.saw;
}

TEST(NewIntent, fails_where_parameters_are_hashed_instead) {
  const Finding finding = probe_with(checks::new_intent, Flaw::hashes_parameters);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::lost);
}

TEST(NewIntent, fails_where_the_case_of_keys_is_ignored) {
  const Finding finding = probe_with(checks::new_intent, Flaw::ignores_case);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_NE(finding.worst.find("only in case"), std::string::npos);
}

TEST(NewIntent, fails_where_long_keys_are_cut) {
  const Finding finding = probe_with(checks::new_intent, Flaw::cuts_long_keys);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_NE(finding.worst.find("only at the end"), std::string::npos);
}

}  // namespace
}  // namespace stet::probe::testing
