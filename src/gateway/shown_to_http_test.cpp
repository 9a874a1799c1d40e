#include "gateway/shown_to_http.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stet::gateway {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const OperationId kId = OperationId::of("scope", "key");

Shown replay() {
  Shown shown;
  shown.kind = ShownKind::replay;
  shown.outcome = Outcome::replayed;
  shown.id = kId;
  shown.answer = {201, {{"Location", "/charges/1"}, {"X-Trace", "a"}}, "{\"id\":1}", Kept::whole};
  shown.replayable_until = WallTime(std::chrono::seconds(784111777));
  return shown;
}

TEST(ShownToHttp, marks_a_replay_and_says_until_when) {
  const Response response = shown_to_http(replay(), {}, nullptr);
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, "{\"id\":1}");
  EXPECT_THAT(response.fields, ElementsAre(Header{"Location", "/charges/1"}, Header{"X-Trace", "a"}));
  EXPECT_THAT(response.more, ElementsAre(Header{"Idempotent-Replayed", "true"}, Header{"Stet-Outcome", "replayed"},
                                         Header{"Stet-Operation", kId.text()},
                                         Header{"Stet-Replayable-Until", "Sun, 06 Nov 1994 08:49:37 GMT"}));
}

TEST(ShownToHttp, drops_from_replays_what_the_route_names) {
  config::Route route;
  route.drop_headers = {"x-trace"};
  EXPECT_THAT(shown_to_http(replay(), route, nullptr).fields, ElementsAre(Header{"Location", "/charges/1"}));
}

TEST(ShownToHttp, gives_the_own_caller_every_line) {
  Shown shown = replay();
  shown.kind = ShownKind::answer;
  shown.outcome = Outcome::completed;
  const Headers own{{"Set-Cookie", "sid=1"}, {"Location", "/charges/1"}};
  const Response response = shown_to_http(shown, {}, &own);
  EXPECT_EQ(response.fields, own);
  EXPECT_THAT(response.more, Not(Contains(Header{"Idempotent-Replayed", "true"})));
}

TEST(ShownToHttp, calls_no_replay_what_the_first_caller_gets_from_the_record) {
  Shown shown = replay();
  shown.outcome = Outcome::completed;
  const Response response = shown_to_http(shown, {}, nullptr);
  EXPECT_EQ(response.status, 201);
  EXPECT_THAT(response.more, Not(Contains(Header{"Idempotent-Replayed", "true"})));
  EXPECT_THAT(response.more, Contains(Header{"Stet-Outcome", "completed"}));
}

TEST(ShownToHttp, points_at_the_status_location) {
  Shown shown;
  shown.kind = ShownKind::accepted;
  shown.outcome = Outcome::in_progress;
  shown.id = kId;
  shown.retry_after = std::chrono::milliseconds(1200);
  const Response response = shown_to_http(shown, {}, nullptr);
  EXPECT_EQ(response.status, 202);
  EXPECT_THAT(response.more, Contains(Header{"Location", "/.well-known/stet/operations/" + kId.text()}));
  EXPECT_THAT(response.more, Contains(Header{"Retry-After", "2"}));
}

TEST(ShownToHttp, takes_statuses_from_the_route_where_it_has_its_own) {
  config::Route route;
  route.status_in_progress = 425;
  route.status_key_reused = 400;
  EXPECT_EQ(shown_to_http(problem(Problem::in_progress, Outcome::in_progress, ""), route, nullptr).status, 425);
  EXPECT_EQ(shown_to_http(problem(Problem::key_reused, Outcome::completed, ""), route, nullptr).status, 400);
  EXPECT_EQ(shown_to_http(problem(Problem::body_too_large, Outcome::not_executed, ""), route, nullptr).status, 413);
}

TEST(ShownToHttp, writes_the_same_status_into_the_problem) {
  config::Route route;
  route.status_in_progress = 425;
  const Response response = shown_to_http(problem(Problem::in_progress, Outcome::in_progress, ""), route, nullptr);
  EXPECT_THAT(response.body, HasSubstr("425"));
}

}  // namespace
}  // namespace stet::gateway
