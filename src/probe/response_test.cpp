#include "probe/response.hpp"

#include <gtest/gtest.h>

namespace stet::probe {
namespace {

using Progress = ResponseReader::Progress;

TEST(ResponseReader, reads_a_sized_answer_byte_by_byte) {
  ResponseReader reader("POST");
  const std::string bytes = "HTTP/1.1 201 Created\r\nContent-Length: 5\r\nLocation: /a/1\r\n\r\nhello";
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i)
    ASSERT_EQ(reader.feed(bytes.substr(i, 1)), Progress::more) << i;
  ASSERT_EQ(reader.feed("o"), Progress::whole);
  EXPECT_EQ(reader.reuse(), Reuse::keep);
  const Response response = reader.take();
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, "hello");
  EXPECT_EQ(*find_header(response.headers, "location"), "/a/1");
}

TEST(ResponseReader, reads_chunks_and_drops_trailers) {
  ResponseReader reader("POST");
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nX-Sum: "
      "1\r\n\r\nrest";
  for (std::size_t i = 0; i + 4 < bytes.size(); ++i) reader.feed(bytes.substr(i, 1));
  ASSERT_EQ(reader.feed("rest"), Progress::whole);
  EXPECT_EQ(reader.rest(), "rest");
  EXPECT_EQ(reader.take().body, "abc0123456789");
}

TEST(ResponseReader, skips_interim_answers) {
  ResponseReader reader("POST");
  EXPECT_EQ(reader.feed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"),
            Progress::more);
  EXPECT_EQ(reader.feed("HTTP/1.1 204 No Content\r\n\r\n"), Progress::whole);
  EXPECT_EQ(reader.take().status, 204);
}

TEST(ResponseReader, reads_sloppy_but_plain_answers) {
  ResponseReader reader("POST");
  EXPECT_EQ(reader.feed("HTTP/1.0 200\nServer:x\n\nbody"), Progress::more);
  EXPECT_EQ(reader.end(), Progress::whole);
  EXPECT_EQ(reader.reuse(), Reuse::close);
  EXPECT_EQ(reader.take().body, "body");
}

TEST(ResponseReader, tells_an_answer_that_is_cut_short_from_a_whole_one) {
  ResponseReader sized("POST");
  sized.feed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell");
  EXPECT_EQ(sized.end(), Progress::malformed);
  ResponseReader chunked("POST");
  chunked.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  EXPECT_EQ(chunked.end(), Progress::malformed);
}

TEST(ResponseReader, refuses_what_is_not_HTTP) {
  EXPECT_EQ(ResponseReader("POST").feed("SSH-2.0-OpenSSH\r\n\r\n"), Progress::malformed);
  EXPECT_EQ(ResponseReader("POST").feed("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"),
            Progress::malformed);
  EXPECT_EQ(ResponseReader("POST").feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
            Progress::malformed);
}

TEST(ResponseReader, expects_no_body_of_an_answer_to_HEAD) {
  ResponseReader reader("HEAD");
  EXPECT_EQ(reader.feed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), Progress::whole);
}

}  // namespace
}  // namespace stet::probe
