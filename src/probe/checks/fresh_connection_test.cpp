#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(FreshConnection, passes_where_keys_outlive_the_connection) {
  EXPECT_EQ(probe_with(checks::fresh_connection, Flaw::none).result, Result::pass);
}

TEST(FreshConnection, fails_where_keys_belong_to_a_connection) {
  const Finding finding = probe_with(checks::fresh_connection, Flaw::forgets_across_connections);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::doubled);
}

}  // namespace
}  // namespace stet::probe::testing
