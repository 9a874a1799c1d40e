#include "demo/fault.hpp"

#include <gtest/gtest.h>

#include "demo/demo_api.hpp"

namespace stet::demo {
namespace {

using std::chrono::milliseconds;

TEST(DemoFaults, are_read_from_the_query_and_from_the_header_alike) {
  const auto from_query = read_faults("delay=2s&lose-answer", "");
  const auto from_header = read_faults("", "delay=2s, lose-answer");
  for (const auto& faults : {from_query, from_header}) {
    ASSERT_TRUE(faults) << faults.error();
    EXPECT_EQ(faults->delay, milliseconds(2000));
    EXPECT_EQ(faults->cut, Cut::lost_answer);
    EXPECT_FALSE(faults->once);
  }
}

TEST(DemoFaults, leave_a_plain_request_alone) {
  const auto faults = read_faults("", "");
  ASSERT_TRUE(faults);
  EXPECT_EQ(faults->delay, milliseconds(0));
  EXPECT_EQ(faults->cut, Cut::none);
  EXPECT_EQ(faults->crash, Crash::none);
  EXPECT_FALSE(faults->fail || faults->fail_after || faults->refuse);
}

TEST(DemoFaults, let_strange_query_parameters_pass_and_refuse_strange_words_in_the_header) {
  EXPECT_TRUE(read_faults("ref=7&page=2", ""));
  EXPECT_FALSE(read_faults("", "loose-answer"));
}

TEST(DemoFaults, refuse_values_that_are_none) {
  for (const auto* bad : {"delay=2", "delay=s", "delay=-1s", "delay=2h", "delay=9999999s", "fail=99",
                          "fail=600", "fail=abc", "big=9GiB", "big=1048577KiB", "big=", "cut=1", "fail"})
    EXPECT_FALSE(read_faults(bad, "")) << bad;
}

TEST(DemoFaults, know_sizes_and_statuses) {
  const auto faults = read_faults("big=2MiB&fail-after=503&once", "");
  ASSERT_TRUE(faults);
  EXPECT_EQ(faults->padding, 2u << 20);
  EXPECT_EQ(faults->fail_after, 503);
  EXPECT_TRUE(faults->once);
}

TEST(DemoFaults, are_all_named_in_the_help) {
  const auto help = fault_help();
  for (const auto* word : {"delay=", "answer-delay=", "cut", "lose-answer", "cut-answer",
                           "refuse=", "fail=", "fail-after=", "big=", "crash", "crash-after", "once"})
    EXPECT_NE(help.find(word), std::string::npos) << word;
}

}  // namespace
}  // namespace stet::demo
