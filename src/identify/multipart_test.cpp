#include "identify/multipart.hpp"

#include <gtest/gtest.h>

#include "identify/media_type.hpp"

namespace stet::identify {
namespace {

std::string form(std::string_view body, std::string_view boundary = "b") {
  std::string out;
  return append_canonical_multipart(out, body, boundary) ? out : "(bytes)";
}

std::string two_parts(const std::string& boundary, const std::string& first = "1",
                      const std::string& second = "2") {
  return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n" + first + "\r\n--" +
         boundary +
         "\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.bin\"\r\nContent-Type: "
         "application/octet-stream\r\n\r\n" +
         second + "\r\n--" + boundary + "--\r\n";
}

// chatvector-ai#506: multipart retries never matched, because the boundary differs.
TEST(Multipart, is_the_same_whatever_the_boundary) {
  ASSERT_NE(form(two_parts("b")), "(bytes)");
  EXPECT_EQ(form(two_parts("b")), form(two_parts("----WebKitFormBoundary7MA4YWxkTrZu0gW"),
                                       "----WebKitFormBoundary7MA4YWxkTrZu0gW"));
}

TEST(Multipart, differs_when_any_part_differs) {
  const auto base = form(two_parts("b"));
  EXPECT_NE(base, form(two_parts("b", "2", "1")));
  EXPECT_NE(base, form(two_parts("b", "1", "3")));
  EXPECT_NE(base, form(two_parts("b", "1", "2\r\n")));
  EXPECT_NE(base, form(two_parts("b", "1\r\n", "2")));
  auto renamed = two_parts("b");
  renamed.replace(renamed.find("name=\"a\""), 8, "name=\"c\"");
  EXPECT_NE(base, form(renamed));
  EXPECT_NE(form("--b\r\nA: 1\r\n\r\nx\r\n--b\r\nA: 1\r\n\r\ny\r\n--b--"),
            form("--b\r\nA: 1\r\n\r\ny\r\n--b\r\nA: 1\r\n\r\nx\r\n--b--"));
  EXPECT_NE(form("--b\r\nA: 1\r\n\r\nx\r\n--b--"), form("--b\r\n\r\nA: 1\r\n\r\nx\r\n--b--"));
  EXPECT_NE(form("--b\r\nA: 1\r\nB: 2\r\n\r\n\r\n--b--"), form("--b\r\nA: 1\r\n\r\nB: 2\r\n\r\n--b--"));
}

TEST(Multipart, is_blind_to_the_case_and_spacing_of_part_headers) {
  EXPECT_EQ(form("--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--\r\n"),
            form("--b\r\ncontent-type:text/plain \r\n\r\nx\r\n--b--"));
}

TEST(Multipart, keeps_every_byte_of_the_content) {
  const std::string bytes("\0\r\n-\n--\r\r\n\xff", 11);
  EXPECT_NE(form("--b\r\n\r\n" + bytes + "\r\n--b--"), "(bytes)");
  EXPECT_NE(form("--b\r\n\r\n" + bytes + "\r\n--b--"), form("--b\r\n\r\n" + bytes.substr(1) + "\r\n--b--"));
  EXPECT_NE(form("--b\r\n\r\n\r\n--b--"), "(bytes)");
  EXPECT_NE(form("--b--\r\n"), "(bytes)");
}

TEST(Multipart, is_bytes_when_it_is_malformed_or_says_more_than_its_parts) {
  for (const std::string& body :
       {std::string(""), std::string("x"), std::string("--b"), std::string("--b\r\n"),
        std::string("--b\r\n\r\nx"), std::string("--b\r\n\r\nx\r\n--b"),
        std::string("--b\r\n\r\nx\r\n--b\r\n"), std::string("--b\r\nno colon\r\n\r\nx\r\n--b--"),
        std::string("--b\r\nA : 1\r\n\r\nx\r\n--b--"),
        std::string("--b\r\nA: 1\r\n folded\r\n\r\nx\r\n--b--"),
        std::string("--b\r\nA: 1\n\r\n\r\nx\r\n--b--"), std::string("--b\n\nx\n--b--"),
        std::string("preamble\r\n--b\r\n\r\nx\r\n--b--"), std::string("--b\r\n\r\nx\r\n--b--\r\nepilogue"),
        std::string("--b\r\n\r\nx\r\n--bc--"), std::string("--b \r\n\r\nx\r\n--b--"),
        std::string("--b\r\n--b--")}) {
    EXPECT_EQ(form(body), "(bytes)") << body;
  }
  EXPECT_EQ(form(two_parts("b"), "c"), "(bytes)");
  EXPECT_EQ(form(two_parts(""), ""), "(bytes)");
  EXPECT_EQ(form(two_parts(std::string(71, 'b')), std::string(71, 'b')), "(bytes)");
  EXPECT_EQ(form(two_parts("b\r\n"), "b\r\n"), "(bytes)");
}

TEST(MediaType, is_compared_without_parameters_and_case) {
  EXPECT_EQ(essence(" Application/JSON ; charset=utf-8"), "application/json");
  EXPECT_EQ(essence(""), "");
  EXPECT_TRUE(is_json("application/json"));
  EXPECT_TRUE(is_json("application/merge-patch+json"));
  EXPECT_FALSE(is_json("application/jsonl"));
  EXPECT_FALSE(is_json("text/plain"));
}

TEST(MediaType, finds_a_parameter_once_and_well_formed) {
  EXPECT_EQ(parameter("multipart/form-data; boundary=abc", "boundary"), "abc");
  EXPECT_EQ(parameter("multipart/form-data;Boundary=\"a;b\\\"c\" ; x=1", "boundary"), "a;b\"c");
  EXPECT_EQ(parameter("multipart/form-data; charset=\"a;boundary=z\"; boundary=abc;", "boundary"), "abc");
  for (const char* text : {"multipart/form-data", "multipart/form-data; boundary=a; boundary=b",
                           "multipart/form-data; boundary", "multipart/form-data; boundary=\"a",
                           "multipart/form-data; boundary=\"a\"b", "multipart/form-data; x; boundary=a"}) {
    EXPECT_EQ(parameter(text, "boundary"), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace stet::identify
