#include "stet/policy.hpp"

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(StatusTable, follows_the_contract_by_default) {
  const StatusTable table;
  for (const int status : {401, 403, 407, 425, 429})
    EXPECT_EQ(table.meaning(status), StatusMeaning::release) << status;
  for (const int status : {408, 502, 503, 504})
    EXPECT_EQ(table.meaning(status), StatusMeaning::unknown) << status;
  for (const int status : {200, 201, 204, 302, 400, 404, 409, 422, 500, 501, 505}) {
    EXPECT_EQ(table.meaning(status), StatusMeaning::record) << status;
  }
}

TEST(StatusTable, lets_a_single_status_win_over_its_class_in_either_order) {
  StatusTable class_last;
  class_last.set_status(503, StatusMeaning::release);
  class_last.set_class(5, StatusMeaning::record);
  StatusTable class_first;
  class_first.set_class(5, StatusMeaning::record);
  class_first.set_status(503, StatusMeaning::release);
  for (const auto& table : {class_last, class_first}) {
    EXPECT_EQ(table.meaning(503), StatusMeaning::release);
    EXPECT_EQ(table.meaning(502), StatusMeaning::record);
  }
}

TEST(StatusTable, knows_nothing_of_a_status_that_http_does_not_have) {
  EXPECT_EQ(StatusTable().meaning(0), StatusMeaning::unknown);
  EXPECT_EQ(StatusTable().meaning(700), StatusMeaning::unknown);
}

}  // namespace
}  // namespace stet
