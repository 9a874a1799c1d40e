#include <gtest/gtest.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

TEST(NoKey, passes_where_a_request_without_a_key_is_refused) {
  EXPECT_EQ(probe_with(checks::no_key, Flaw::none).result, Result::pass);
}

TEST(NoKey, warns_where_it_is_accepted_unprotected) {
  EXPECT_EQ(probe_with(checks::no_key, Flaw::ignores_keys).result, Result::warn);
}

}  // namespace
}  // namespace stet::probe::testing
