#include "stores/postgres/headers_json.hpp"

#include <gtest/gtest.h>

namespace stet::stores::postgres {
namespace {

TEST(HeadersAsJson, keep_order_and_repeats) {
  const Headers headers{{"Link", "</a>; rel=\"next\""}, {"x-b", ""}, {"Link", "\\ \t é"}};
  const auto json = to_json(headers);
  ASSERT_TRUE(json);
  EXPECT_EQ(*json, R"([["Link","</a>; rel=\"next\""],["x-b",""],["Link","\\ \u0009 é"]])");
  EXPECT_EQ(headers_of_json(*json), headers);
  EXPECT_EQ(headers_of_json(to_json({}).value()), Headers{});
}

TEST(HeadersAsJson, are_read_as_postgresql_prints_them) {
  const Headers wanted{{"a", "b/\"\\\b\f\n\r\t\x01"}, {"c", "é"}};
  EXPECT_EQ(headers_of_json(R"([["a", "b/\"\\\b\f\n\r\t\u0001"], ["c", "é"]])"), wanted);
}

TEST(HeadersAsJson, refuse_what_is_no_array_of_pairs) {
  for (const char* json : {"", "null", "{}", "[", "[[]]", "[[\"a\"]]", "[[\"a\",1]]", "[[\"a\",\"b\",\"c\"]]",
                           "[[\"a\",\"b\"],]", "[[\"a\",\"b\"]", "[] []", "[[\"a\",\"\\x\"]]",
                           "[[\"a\",\"\\u00\"]]", "[[\"a\",\"\\ud800\"]]", "[[\"a\",\"b"}) {
    EXPECT_EQ(headers_of_json(json), std::nullopt) << json;
  }
}

TEST(HeadersAsJson, leave_bytes_that_are_no_text_to_another_form) {
  for (const std::string& value :
       {std::string("\xff"), std::string("a\0b", 3), std::string("\xc3"), std::string("\xc0\x80"),
        std::string("\xed\xa0\x80"), std::string("\xf4\x90\x80\x80"), std::string("\xe0\x80\x80")}) {
    EXPECT_FALSE(is_text(value));
    EXPECT_EQ(to_json({{"a", value}}), std::nullopt);
  }
  for (const char* text : {"", "a", "é", "€", "\U0001f600", "\u07ff\u0800\uffff\U0010ffff"})
    EXPECT_TRUE(is_text(text)) << text;
}

}  // namespace
}  // namespace stet::stores::postgres
