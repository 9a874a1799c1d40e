#include "http/date.hpp"

#include <gtest/gtest.h>

namespace stet::http {
namespace {

constexpr WallTime at(std::int64_t ms) {
  return WallTime(milliseconds(ms));
}

TEST(HttpDate, is_written_as_in_RFC_9110) {
  EXPECT_EQ(http_date(at(784111777000)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(at(0)), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(http_date(at(951827696999)), "Tue, 29 Feb 2000 12:34:56 GMT");
}

TEST(Rfc3339, has_milliseconds_and_Z) {
  EXPECT_EQ(rfc3339(at(784111777042)), "1994-11-06T08:49:37.042Z");
  EXPECT_EQ(rfc3339(at(-1)), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace stet::http
