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

TEST(HttpDate, is_read_back) {
  for (const std::int64_t seconds : {0LL, 784111777LL, 951827696LL, 4102444799LL}) {
    EXPECT_EQ(parse_http_date(http_date(at(seconds * 1000))), at(seconds * 1000));
  }
}

TEST(HttpDate, is_refused_when_it_is_no_date) {
  for (const char* text :
       {"", "Sun, 06 Nov 1994 08:49:37", "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
  }
}

TEST(Rfc3339, has_milliseconds_and_Z) {
  EXPECT_EQ(rfc3339(at(784111777042)), "1994-11-06T08:49:37.042Z");
  EXPECT_EQ(rfc3339(at(-1)), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace stet::http
