#include "probe/json.hpp"

#include <gtest/gtest.h>

namespace stet::probe {
namespace {

TEST(JsonCount, counts_lists_and_reads_numbers) {
  EXPECT_EQ(json_count(R"({"data":[1,2,3]})", "/data").value(), 3);
  EXPECT_EQ(json_count(R"({"meta":{"total":17}})", "/meta/total").value(), 17);
  EXPECT_EQ(json_count("[1,2]", "").value(), 2);
  EXPECT_EQ(json_count(R"({"a/b":{"~":4}})", "/a~1b/~0").value(), 4);
  EXPECT_FALSE(json_count(R"({"data":"three"})", "/data"));
  EXPECT_FALSE(json_count(R"({"data":1.5})", "/data"));
  EXPECT_FALSE(json_count(R"({"data":[]})", "/nothing"));
  EXPECT_FALSE(json_count("<html>", "/data"));
}

TEST(Respell, keeps_every_digit_and_reverses_members) {
  EXPECT_EQ(
      respell(R"({"a":1e400,"b":[9007199254740993,{"c":"x,\"}","d":null}]})").value(),
      "{ \"b\" :  [ 9007199254740993 , { \"d\" :  null ,\n \"c\" :  \"x,\\\"}\" } ] ,\n \"a\" :  1e400 }");
  EXPECT_EQ(respell("{}").value(), "{  }");
  EXPECT_FALSE(respell("a=1"));
}

TEST(AlteredJson, changes_a_number_first) {
  const auto variants = altered_json(R"({"note":"a","amount":4900})");
  ASSERT_EQ(variants.size(), 3U);
  EXPECT_EQ(variants[0], R"({"note":"a","amount":4901})");
  EXPECT_EQ(variants[1], R"({"note":"ax","amount":4900})");
  EXPECT_EQ(variants[2], R"({"note":"a","amount":4900,"stet_probe":1})");
  EXPECT_TRUE(altered_json("a=1").empty());
}

TEST(JsonString, is_valid_whatever_an_API_answered) {
  EXPECT_EQ(json_string("a\"b\n"), "\"a\\\"b\\n\"");
  EXPECT_EQ(json_string("caf\xc3\xa9"), "\"caf\xc3\xa9\"");
  EXPECT_EQ(json_string("\x89P"), "\"\xef\xbf\xbdP\"");
  EXPECT_EQ(json_string("\xe2\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(json_string("\xed\xa0\x80").find("\xed\xa0"), std::string::npos);
}

}  // namespace
}  // namespace stet::probe
