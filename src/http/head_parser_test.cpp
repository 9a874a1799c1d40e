#include "http/head_parser.hpp"

#include <gtest/gtest.h>

// The grammar is held by tests/wire/requests.json and answers.json; here is what those tables cannot say.

namespace stet::http {
namespace {

constexpr std::string_view kPost = "POST / HTTP/1.1\r\nHost: h\r\n";

TEST(HeadFinder, finds_the_end_and_leaves_what_follows_alone) {
  HeadFinder finder(MessageKind::request, {});
  const std::string head = std::string(kPost) + "\r\n";
  EXPECT_EQ(finder.find(head + "\0\n\n\n body"), head.size());
}

TEST(HeadFinder, says_at_once_that_a_line_ends_in_a_bare_LF) {
  HeadFinder finder(MessageKind::request, {});
  EXPECT_EQ(finder.find("GET / HTTP/1.1"), 0U);
  EXPECT_FALSE(finder.find("GET / HTTP/1.1\n").has_value());
}

TEST(HeadFinder, does_not_wait_for_the_end_of_a_line_that_is_too_long) {
  HeadLimits limits;
  limits.start_line = 20;
  HeadFinder finder(MessageKind::request, limits);
  EXPECT_EQ(finder.find("GET /aaaaaaaaaaaaaaa"), 0U);
  const auto refused = finder.find("GET /aaaaaaaaaaaaaaaaaaa");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, WireErrorKind::too_large);
}

TEST(HeadFinder, takes_no_empty_line_before_an_answer) {
  HeadFinder finder(MessageKind::response, {});
  EXPECT_FALSE(finder.find("\r\n").has_value());
}

TEST(Limits, are_too_large_and_not_malformed) {
  HeadLimits limits;
  limits.fields = 2;
  const std::string head = std::string(kPost) + "A: 1\r\nB: 2\r\n\r\n";
  const auto refused = parse_request_head(head, limits);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, WireErrorKind::too_large);
  limits.fields = 3;
  EXPECT_TRUE(parse_request_head(head, limits).has_value());
}

TEST(RequestHeadParser, keeps_order_and_spelling_of_the_fields) {
  const auto head = parse_request_head(std::string(kPost) + "x-B: 2\r\nX-a:1\r\nX-b: 3\r\n\r\n", {});
  ASSERT_TRUE(head.has_value());
  const Headers expected = {{"Host", "h"}, {"x-B", "2"}, {"X-a", "1"}, {"X-b", "3"}};
  EXPECT_EQ(head->fields.lines(), expected);
}

TEST(RequestHeadParser, refuses_bytes_behind_the_empty_line) {
  EXPECT_FALSE(parse_request_head(std::string(kPost) + "\r\nX", {}).has_value());
}

TEST(RequestHeadParser, finds_a_bad_byte_at_every_place_of_a_long_value) {
  for (std::size_t at = 0; at < 40; ++at) {
    for (const char bad : {'\0', '\x01', '\x1f', '\x7f', '\r', '\n'}) {
      std::string value(40, 'a');
      value[at] = bad;
      EXPECT_FALSE(parse_request_head(std::string(kPost) + "X: " + value + "\r\n\r\n", {}).has_value())
          << "byte " << static_cast<int>(bad) << " at " << at;
      value[at] = '\t';
      const auto with_tab = parse_request_head(std::string(kPost) + "X: " + value + "|\r\n\r\n", {});
      ASSERT_TRUE(with_tab.has_value()) << at;
      if (at > 0) EXPECT_EQ(with_tab->fields.first("X"), value + "|");
      value[at] = '\x80';
      EXPECT_TRUE(parse_request_head(std::string(kPost) + "X: " + value + "\r\n\r\n", {}).has_value()) << at;
    }
  }
}

TEST(KeyHeader, must_not_be_named_by_Connection) {
  const auto parse = [](std::string_view connection) {
    return parse_request_head(std::string(kPost) + "Connection: " + std::string(connection) + "\r\n\r\n", {});
  };
  const std::vector<std::string> keys = {"Idempotency-Key", "X-Request-Key"};
  EXPECT_TRUE(check_key_is_end_to_end(*parse("close, X-Other"), keys).has_value());
  EXPECT_FALSE(check_key_is_end_to_end(*parse("close, idempotency-key"), keys).has_value());
  EXPECT_FALSE(check_key_is_end_to_end(*parse("X-Request-Key"), keys).has_value());
  EXPECT_TRUE(check_key_is_end_to_end(*parse("idempotency-key"), {}).has_value());
}

TEST(ResponseHeadParser, tells_what_HEAD_would_have_got) {
  const auto head = parse_response_head("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n", {}, "HEAD");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->framing, BodyFraming::none);
  EXPECT_EQ(head->content_length, 12U);
  EXPECT_EQ(head->reason, "OK");
}

}  // namespace
}  // namespace stet::http
