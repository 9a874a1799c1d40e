#include "http/body_decoder.hpp"

#include <gtest/gtest.h>

#include <string>

namespace stet::http {
namespace {

TEST(BodyDecoder, hands_out_views_into_the_input) {
  BodyDecoder body(BodyFraming::sized, 5, Trailers::refuse);
  const std::string input = "helloGET";
  const auto piece = body.next(input);
  ASSERT_TRUE(piece.has_value());
  EXPECT_EQ(piece->data.data(), input.data());
  EXPECT_EQ(piece->data, "hello");
  EXPECT_EQ(piece->consumed, 5U);
  EXPECT_TRUE(body.done());
  EXPECT_EQ(body.next("GET")->consumed, 0U);
}

TEST(BodyDecoder, is_done_at_once_when_there_is_no_body) {
  EXPECT_TRUE(BodyDecoder(BodyFraming::none, 0, Trailers::refuse).done());
  EXPECT_TRUE(BodyDecoder(BodyFraming::sized, 0, Trailers::refuse).done());
  EXPECT_FALSE(BodyDecoder(BodyFraming::chunked, 0, Trailers::refuse).done());
}

TEST(BodyDecoder, counts_what_it_handed_out) {
  BodyDecoder body(BodyFraming::sized, 10, Trailers::refuse);
  EXPECT_TRUE(body.next("abcd").has_value());
  EXPECT_EQ(body.received(), 4U);
}

TEST(BodyDecoder, consumes_chunk_framing_without_data) {
  BodyDecoder body(BodyFraming::chunked, 0, Trailers::refuse);
  EXPECT_EQ(body.next("5\r")->consumed, 2U);
  EXPECT_EQ(body.next("\nhel")->data, "hel");
  EXPECT_EQ(body.next("lo\r\n0\r\n\r\nGET")->data, "lo");
  std::string rest;
  EXPECT_EQ(body.decode("\r\n0\r\n\r\nGET", rest), 7U);
  EXPECT_TRUE(rest.empty());
  EXPECT_TRUE(body.done());
  EXPECT_EQ(body.received(), 5U);
}

TEST(BodyDecoder, stays_refused) {
  BodyDecoder body(BodyFraming::chunked, 0, Trailers::refuse);
  EXPECT_FALSE(body.next("x").has_value());
  EXPECT_FALSE(body.next("0\r\n\r\n").has_value());
  EXPECT_FALSE(body.end_of_stream().has_value());
}

TEST(BodyDecoder, takes_a_clean_end_of_the_stream_for_the_end_of_an_until_close_body_only) {
  BodyDecoder until_close(BodyFraming::until_close, 0, Trailers::drop);
  EXPECT_EQ(until_close.next("abc")->data, "abc");
  EXPECT_FALSE(until_close.done());
  EXPECT_TRUE(until_close.end_of_stream().has_value());
  EXPECT_TRUE(until_close.done());

  BodyDecoder sized(BodyFraming::sized, 4, Trailers::drop);
  EXPECT_TRUE(sized.next("abc").has_value());
  const auto cut = sized.end_of_stream();
  ASSERT_FALSE(cut.has_value());
  EXPECT_EQ(cut.error().kind, WireErrorKind::truncated);
}

TEST(BodyDecoder, takes_many_small_chunks_in_one_call) {
  std::string wire;
  for (int i = 0; i < 1000; ++i) wire += "1\r\na\r\n";
  wire += "0\r\n\r\n";
  BodyDecoder body(BodyFraming::chunked, 0, Trailers::refuse);
  std::string out;
  EXPECT_EQ(body.decode(wire, out), wire.size());
  EXPECT_EQ(out, std::string(1000, 'a'));
}

}  // namespace
}  // namespace stet::http
