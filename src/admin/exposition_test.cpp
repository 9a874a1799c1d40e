#include "admin/exposition.hpp"

#include <gtest/gtest.h>

namespace stet::admin {
namespace {

TEST(Exposition, escapes_label_values) {
  Exposition out;
  out.begin("stet_x", Exposition::Type::gauge, "An x.");
  out.sample(std::int64_t{-3}, {{"route", "POST /a\"b\\c\nd"}});
  EXPECT_EQ(out.take(),
            "# HELP stet_x An x.\n# TYPE stet_x gauge\nstet_x{route=\"POST /a\\\"b\\\\c\\nd\"} -3\n");
}

TEST(Exposition, writes_a_histogram_cumulatively_with_its_sum_and_count) {
  BatchHistogram sizes;
  sizes.observe(1);
  sizes.observe(3);
  sizes.observe(5000);
  Exposition out;
  out.begin("stet_b", Exposition::Type::histogram, "Sizes.");
  out.histogram(sizes, 1);
  const std::string text = out.take();
  EXPECT_NE(text.find("stet_b_bucket{le=\"1\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("stet_b_bucket{le=\"2\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("stet_b_bucket{le=\"4\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("stet_b_bucket{le=\"1024\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("stet_b_bucket{le=\"+Inf\"} 3\n"), std::string::npos);
  EXPECT_NE(text.find("stet_b_sum 5004\nstet_b_count 3\n"), std::string::npos);
}

TEST(Exposition, writes_durations_as_exact_decimal_seconds) {
  DurationHistogram durations;
  durations.observe(std::chrono::microseconds(2'500));
  durations.observe(std::chrono::nanoseconds(-5));
  Exposition out;
  out.begin("stet_d", Exposition::Type::histogram, "Times.");
  out.histogram(durations, 1'000'000, {{"route", "r"}});
  const std::string text = out.take();
  EXPECT_NE(text.find("stet_d_bucket{route=\"r\",le=\"0.00005\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("stet_d_bucket{route=\"r\",le=\"0.001\"} 1\n"), std::string::npos);
  EXPECT_NE(text.find("stet_d_bucket{route=\"r\",le=\"0.0025\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("stet_d_bucket{route=\"r\",le=\"600\"} 2\n"), std::string::npos);
  EXPECT_NE(text.find("stet_d_sum{route=\"r\"} 0.0025\n"), std::string::npos);
}

}  // namespace
}  // namespace stet::admin
