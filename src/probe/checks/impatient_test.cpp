#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(Impatient, passes_where_the_first_attempt_ends_without_its_client) {
  const Finding finding = probe_with(checks::impatient, Flaw::none);
  EXPECT_EQ(finding.result, Result::pass) << finding.saw;
}

TEST(Impatient, waits_for_a_first_attempt_that_starts_late) {
  const Finding finding = probe_with(checks::impatient, Flaw::starts_late_when_nobody_listens);
  EXPECT_EQ(finding.result, Result::pass) << finding.worst;
}

TEST(Impatient, fails_where_the_answer_is_dropped_when_nobody_listens) {
  const Finding finding = probe_with(checks::impatient, Flaw::forgets_when_nobody_listens);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::doubled);
}

}  // namespace
}  // namespace stet::probe::testing
