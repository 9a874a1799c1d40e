#include "gateway/answer_headers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stet::gateway {
namespace {

using testing::ElementsAre;

http::Fields fields(std::initializer_list<Header> lines) {
  http::Fields made;
  for (const Header& line : lines) made.add(line.name, line.value);
  return made;
}

// gofiber/fiber PR4693: Set-Cookie and Content-Disposition were split at commas when replayed.
TEST(AnswerHeaders, keep_order_and_repeats_and_commas) {
  const auto lines = own_caller_headers(
      fields({{"Link", "</a>, </b>"}, {"Content-Disposition", "a; filename=\"x,y\""}, {"Link", "</c>"}}));
  EXPECT_THAT(stored_headers(lines, {}), ElementsAre(Header{"Link", "</a>, </b>"},
                                                     Header{"Content-Disposition", "a; filename=\"x,y\""},
                                                     Header{"Link", "</c>"}));
}

// concerns_on_rails PR47: the replayed 201 had no Location.
TEST(AnswerHeaders, keep_location) {
  EXPECT_THAT(stored_headers(own_caller_headers(fields({{"Location", "/charges/1"}})), {}),
              ElementsAre(Header{"Location", "/charges/1"}));
}

// ikyriak/IdempotentAPI#21: a stored Transfer-Encoding corrupted the replay.
TEST(AnswerHeaders, leave_out_what_belongs_to_the_connection) {
  EXPECT_THAT(own_caller_headers(fields({{"Transfer-Encoding", "chunked"}, {"Connection", "close, X-Hop"},
                                         {"X-Hop", "1"}, {"Keep-Alive", "timeout=5"}, {"X-Kept", "1"}})),
              ElementsAre(Header{"X-Kept", "1"}));
}

TEST(AnswerHeaders, never_believe_an_upstream_that_speaks_as_the_gateway) {
  EXPECT_THAT(own_caller_headers(fields({{"Stet-Outcome", "completed"}, {"Idempotent-Replayed", "true"}})),
              ElementsAre());
}

// apache/polaris PR3803: credentials in stored answers.
TEST(AnswerHeaders, neither_store_nor_replay_cookies_and_challenges) {
  const auto lines =
      own_caller_headers(fields({{"set-cookie", "sid=1"}, {"WWW-Authenticate", "Basic"}, {"ETag", "\"1\""}}));
  EXPECT_EQ(lines.size(), 3u);
  EXPECT_THAT(stored_headers(lines, {}), ElementsAre(Header{"ETag", "\"1\""}));
}

TEST(AnswerHeaders, follow_the_routes_exceptions) {
  config::Route route;
  route.keep_headers = {"set-cookie"};
  route.drop_headers = {"x-trace"};
  const auto lines = own_caller_headers(fields({{"Set-Cookie", "theme=dark"}, {"X-Trace", "1"}}));
  EXPECT_EQ(lines.size(), 2u);
  EXPECT_THAT(stored_headers(lines, route), ElementsAre(Header{"Set-Cookie", "theme=dark"}));
}

// An upstream that joins writes its lines into the record itself.
TEST(AnswerHeaders, replay_nothing_recorded_that_would_frame_the_answer_or_speak_as_the_gateway) {
  const Headers recorded{{"content-length", "9000"}, {"Transfer-Encoding", "chunked"}, {"Connection", "close"},
                         {"STET-Outcome", "unknown"}, {"idempotent-replayed", "no"}, {"Location", "/charges/1"}};
  EXPECT_FALSE(all_stored(recorded, {}));
  EXPECT_THAT(replayed_headers(recorded, {}), ElementsAre(Header{"Location", "/charges/1"}));
}

}  // namespace
}  // namespace stet::gateway
