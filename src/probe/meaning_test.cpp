#include "probe/meaning.hpp"

#include <gtest/gtest.h>

namespace stet::probe {
namespace {

Response answer(int status, std::string body = "", Headers headers = {}) {
  Response response;
  response.status = status;
  response.body = std::move(body);
  response.headers = std::move(headers);
  return response;
}

TEST(Meaning, follows_the_status) {
  EXPECT_EQ(meaning(answer(201), 201), Meaning::success);
  EXPECT_EQ(meaning(answer(200), 201), Meaning::success);
  EXPECT_EQ(meaning(answer(202), 201), Meaning::in_progress);
  EXPECT_EQ(meaning(answer(202), 202), Meaning::success);
  EXPECT_EQ(meaning(answer(409), 201), Meaning::in_progress);
  EXPECT_EQ(meaning(answer(503), 201), Meaning::try_later);
  EXPECT_EQ(meaning(answer(422), 201), Meaning::refused);
  EXPECT_EQ(meaning(answer(500), 201), Meaning::broken);
}

TEST(Meaning, believes_a_server_that_says_it_does_not_know) {
  EXPECT_EQ(meaning(answer(502, R"({"type":"/problems/outcome-unknown","retryable":false})"), 201),
            Meaning::unknown);
  EXPECT_EQ(meaning(answer(502, R"({"type":"/problems/outcome-unknown","retryable":true})"), 201),
            Meaning::try_later);
  EXPECT_EQ(meaning(answer(400, "unknown field"), 201), Meaning::refused);
  EXPECT_EQ(meaning(answer(409, R"({"title":"key expired","retryable":false})"), 201), Meaning::refused);
}

TEST(Difference, ignores_what_belongs_to_the_single_answer) {
  const Response first = answer(
      201, "{}", {{"Date", "Mon"}, {"X-Request-Id", "1"}, {"Location", "/a/1"}, {"Set-Cookie", "a=1"}});
  const Response second = answer(201, "{}",
                                 {{"date", "Tue"},
                                  {"x-request-id", "2"},
                                  {"location", "/a/1"},
                                  {"Idempotent-Replayed", "true"},
                                  {"Stet-Outcome", "replayed"}});
  EXPECT_EQ(difference(first, second), "");
}

TEST(Difference, names_status_body_and_headers) {
  const Response first = answer(201, "{\"id\":1}", {{"Location", "/a/1"}, {"ETag", "x"}});
  EXPECT_EQ(difference(first, answer(200, "{\"id\":1}", {{"Location", "/a/1"}, {"ETag", "x"}})),
            "status 201 became 200");
  EXPECT_NE(difference(first, answer(201, "{\"id\":2}", first.headers)).find("from byte 6 on"),
            std::string::npos);
  EXPECT_EQ(difference(first, answer(201, first.body, {{"ETag", "x"}})), "the header location is gone");
  EXPECT_EQ(difference(first, answer(201, first.body, {{"Location", "/a/2"}, {"ETag", "x"}})),
            "the header location was '/a/1' and is '/a/2'");
  EXPECT_EQ(difference(first, answer(201, first.body, {{"ETag", "x"}}), {"LOCATION"}), "");
  EXPECT_NE(difference(answer(200, std::string("\x89PNG\0", 5)), answer(200, "\xef\xbf\xbdPNG")), "");
}

TEST(Lacking, compares_with_the_form_of_a_plain_answer) {
  const Response plain = answer(201, "{\"id\":1}", {{"Location", "/a/1"}, {"Date", "Mon"}});
  EXPECT_EQ(lacking(plain, answer(201, "{\"id\":2}", {{"Location", "/a/2"}})), "");
  EXPECT_EQ(lacking(plain, answer(200, "{\"id\":2}", {{"Location", "/a/2"}})),
            "status 200 where a plain request gets 201");
  EXPECT_EQ(lacking(plain, answer(201, "", {{"Location", "/a/2"}})), "without the body");
  EXPECT_EQ(lacking(plain, answer(201, "{\"id\":2}")), "without the header location");
  EXPECT_EQ(lacking(plain, answer(201, "{\"id\":2}"), {"Location"}), "");
}

TEST(Leaks, sees_the_first_body_and_its_telling_values) {
  const Response first = answer(201, R"({"id":"charge-000017","amount":4900})");
  EXPECT_TRUE(leaks(first, answer(422, "used for " + first.body), {}));
  EXPECT_TRUE(leaks(first, answer(422, R"({"detail":"used for charge-000017"})"), {}));
  EXPECT_FALSE(leaks(first, answer(422, R"({"detail":"used, 4900"})"), {}));
  EXPECT_FALSE(leaks(first, answer(422, R"({"detail":"charge-000017"})"), {"charge-000017"}));
}

}  // namespace
}  // namespace stet::probe
