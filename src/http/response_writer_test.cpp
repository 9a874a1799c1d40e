#include <gtest/gtest.h>

#include "http/head_parser.hpp"
#include "http/serialize.hpp"

namespace stet::http {
namespace {

std::string written(const Reply& reply) {
  std::string wire;
  append_response_head(wire, reply);
  return wire;
}

Reply reply_of(int status, const Headers& fields = {}) {
  Reply reply;
  reply.status = status;
  reply.fields = fields;
  reply.now = WallTime(milliseconds(784111777000));
  return reply;
}

TEST(ResponseWriter, writes_status_fields_date_and_framing) {
  const Headers fields = {{"Location", "/charges/1"}, {"set-cookie", "a=1"}, {"set-cookie", "b=2"}};
  const Headers more = {{"Stet-Outcome", "completed"}};
  Reply reply = reply_of(201, fields);
  reply.more = more;
  reply.body = OutgoingBody::sized(12);
  EXPECT_EQ(written(reply),
            "HTTP/1.1 201 Created\r\nLocation: /charges/1\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n"
            "Stet-Outcome: completed\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 12\r\n\r\n");
}

TEST(ResponseWriter, keeps_the_Date_of_the_first_answer) {
  const Headers fields = {{"date", "Thu, 01 Jan 1970 00:00:00 GMT"}};
  const std::string wire = written(reply_of(200, fields));
  EXPECT_NE(wire.find("date: Thu, 01 Jan 1970 00:00:00 GMT"), std::string::npos);
  EXPECT_EQ(wire.find("1994"), std::string::npos);
}

TEST(ResponseWriter, writes_framing_of_its_own) {
  const Headers fields = {{"Content-Length", "99"},
                          {"Transfer-Encoding", "chunked"},
                          {"Connection", "X-Hop"},
                          {"X-Hop", "1"},
                          {"Keep-Alive", "timeout=5"},
                          {"Trailer", "X"},
                          {"X-End", "1"}};
  Reply reply = reply_of(200, fields);
  reply.body = OutgoingBody::sized(3);
  const auto head = parse_response_head(written(reply), {}, "POST");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->content_length, 3U);
  EXPECT_EQ(head->fields.count("X-Hop"), 0U);
  EXPECT_EQ(head->fields.count("Keep-Alive"), 0U);
  EXPECT_EQ(head->fields.count("Trailer"), 0U);
  EXPECT_EQ(head->fields.first("X-End"), "1");
}

TEST(ResponseWriter, frames_every_kind_of_body) {
  EXPECT_NE(written(reply_of(200)).find("\r\nContent-Length: 0\r\n"), std::string::npos);
  EXPECT_EQ(written(reply_of(204)).find("Content-Length"), std::string::npos);
  EXPECT_EQ(written(reply_of(304)).find("Content-Length"), std::string::npos);
  Reply chunked = reply_of(200);
  chunked.body = OutgoingBody::chunked();
  EXPECT_NE(written(chunked).find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos);
  Reply until_close = reply_of(200);
  until_close.body = OutgoingBody::until_close();
  until_close.persistence = Persistence::close;
  const std::string wire = written(until_close);
  EXPECT_EQ(wire.find("Content-Length"), std::string::npos);
  EXPECT_NE(wire.find("\r\nConnection: close\r\n"), std::string::npos);
}

TEST(ResponseWriter, says_to_an_HTTP_1_0_client_that_the_connection_stays) {
  Reply reply = reply_of(200);
  reply.client_minor = 0;
  EXPECT_NE(written(reply).find("\r\nConnection: keep-alive\r\n"), std::string::npos);
}

TEST(ResponseWriter, lets_no_reason_end_its_line) {
  Reply reply = reply_of(200);
  reply.reason = "OK\r\nX-Injected: 1";
  const auto head = parse_response_head(written(reply), {}, "GET");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->fields.count("X-Injected"), 0U);
}

TEST(EndToEnd, keeps_order_and_repeats_and_drops_the_rest) {
  const Fields fields(Headers{{"Set-Cookie", "a"},
                              {"Connection", "x-hop"},
                              {"X-Hop", "1"},
                              {"ETag", "e"},
                              {"Content-Length", "3"},
                              {"Set-Cookie", "b"},
                              {"Stet-Outcome", "forged"},
                              {"Idempotent-Replayed", "true"},
                              {"Proxy-Authenticate", "Basic"}});
  const Headers expected = {{"Set-Cookie", "a"}, {"ETag", "e"}, {"Set-Cookie", "b"}};
  EXPECT_EQ(end_to_end(fields), expected);
}

TEST(Chunks, are_written_in_hex) {
  std::string wire;
  append_chunk_head(wire, 255);
  EXPECT_EQ(wire, "ff\r\n");
}

}  // namespace
}  // namespace stet::http
