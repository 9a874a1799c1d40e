#include "http/response_reader.hpp"

#include <gtest/gtest.h>

namespace stet::http {
namespace {

using Stage = ResponseReader::Stage;

TEST(ResponseReader, tells_interim_answers_the_head_the_body_and_the_end) {
  ResponseReader reader("POST", {}, Switching::refuse);
  std::string_view wire =
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nhi!";
  const auto step = [&] {
    const auto progress = reader.read(wire);
    EXPECT_TRUE(progress.has_value());
    wire.remove_prefix(progress->consumed);
    return *progress;
  };
  EXPECT_EQ(step().stage, Stage::interim);
  EXPECT_EQ(reader.interim().status, 103);
  EXPECT_EQ(reader.interim().fields.first("link"), "x");
  EXPECT_FALSE(reader.has_head());
  EXPECT_EQ(step().stage, Stage::head);
  EXPECT_EQ(reader.head().status, 201);
  const auto body = step();
  EXPECT_EQ(body.stage, Stage::body);
  EXPECT_EQ(body.data, "hi");
  EXPECT_EQ(step().stage, Stage::done);
  EXPECT_EQ(wire, "!");  // the connection is not to be used again
}

TEST(ResponseReader, switches_protocols_only_for_those_who_asked) {
  constexpr std::string_view wire = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nraw";
  ResponseReader asked("GET", {}, Switching::allow);
  const auto progress = asked.read(wire);
  ASSERT_TRUE(progress.has_value());
  EXPECT_EQ(progress->stage, Stage::switched);
  EXPECT_EQ(wire.substr(progress->consumed), "raw");
  ResponseReader did_not("GET", {}, Switching::refuse);
  EXPECT_FALSE(did_not.read(wire).has_value());
}

// An upstream must not pass for one that switched: a tunnel after a 200 is how CVE-2024-23326 went.
TEST(ResponseReader, reads_any_other_answer_to_an_upgrade_as_an_ordinary_one) {
  ResponseReader reader("GET", {}, Switching::allow);
  const auto progress = reader.read("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nUpgrade: x\r\n\r\n");
  ASSERT_TRUE(progress.has_value());
  EXPECT_EQ(progress->stage, Stage::head);
  EXPECT_TRUE(reader.done());
}

TEST(ResponseReader, needs_no_more_bytes_to_see_that_there_is_no_body) {
  ResponseReader reader("POST", {}, Switching::refuse);
  EXPECT_EQ(reader.read("HTTP/1.1 204 No Content\r\n\r\n")->stage, Stage::head);
  EXPECT_TRUE(reader.done());
  EXPECT_EQ(reader.read("")->stage, Stage::done);
  EXPECT_TRUE(reader.end_of_stream().has_value());
}

}  // namespace
}  // namespace stet::http
