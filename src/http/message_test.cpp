#include "http/message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stet::http {
namespace {

using testing::ElementsAre;

TEST(Fields, are_found_whatever_their_case_and_in_their_order) {
  Fields fields;
  fields.add("Accept", "a");
  fields.add("X-One", "1");
  fields.add("ACCEPT", "b");
  EXPECT_EQ(fields.count("accept"), 2U);
  EXPECT_EQ(fields.first("aCCept"), "a");
  EXPECT_THAT(fields.all("accept"), ElementsAre("a", "b"));
  EXPECT_EQ(fields.first("Accep"), std::nullopt);
}

TEST(RequestHead, splits_its_target_at_the_first_question_mark) {
  RequestHead head;
  head.target = "/a?b=1?c";
  EXPECT_EQ(head.path(), "/a");
  EXPECT_EQ(head.query(), "b=1?c");
  head.target = "/a";
  EXPECT_EQ(head.path(), "/a");
  EXPECT_EQ(head.query(), "");
  EXPECT_EQ(head.host(), "");
}

TEST(Names, are_compared_in_ASCII_only) {
  EXPECT_TRUE(iequals("Content-Length", "content-LENGTH"));
  EXPECT_FALSE(iequals("\xc0", "\xe0"));  // À and à in Latin-1
  EXPECT_FALSE(iequals("[", "{"));        // they differ in the same bit as letters
  EXPECT_TRUE(istarts_with("STET-Token", "stet-"));
  EXPECT_FALSE(istarts_with("Ste", "Stet-"));
}

}  // namespace
}  // namespace stet::http
