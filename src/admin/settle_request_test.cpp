#include <gtest/gtest.h>

#include "admin/operations_json.hpp"

namespace stet::admin {
namespace {

using namespace std::chrono_literals;

constexpr milliseconds kCompletion = 10min;
const WallTime kNow = WallTime(milliseconds(1'700'000'000'000));

std::string error_of(std::string_view text) {
  const auto request = parse_settle(text);
  return request ? "" : request.error();
}

TEST(SettleRequest, reads_a_release_and_an_answer) {
  const auto release = parse_settle(R"({"release": true, "force": true})");
  ASSERT_TRUE(release);
  EXPECT_FALSE(release->answer);
  EXPECT_EQ(release->force, Force::yes);

  const auto answer = parse_settle(R"({"status": 201, "headers": [["Location", "/c/1"]], "body": "{}"})");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->force, Force::no);
  EXPECT_EQ(*answer->answer, (Answer{201, {{"Location", "/c/1"}}, "{}"}));

  EXPECT_EQ(parse_settle(R"({"status": 200, "body_base64": "AP8="})")->answer->body,
            std::string("\0\xff", 2));
  EXPECT_EQ(parse_settle(R"({"status": 204})")->answer->body, "");
}

TEST(SettleRequest, reads_what_it_writes) {
  for (const SettleRequest& request :
       {SettleRequest{std::nullopt, Force::yes},
        SettleRequest{Answer{422, {{"A", "é"}, {"A", "\"2\""}}, std::string("\0\x80", 2)}, Force::no}}) {
    const auto read = parse_settle(settle_json(request));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->answer, request.answer);
    EXPECT_EQ(read->force, request.force);
  }
}

TEST(SettleRequest, refuses_what_it_would_have_to_guess) {
  for (const char* text : {"",
                           "[]",
                           "{}",
                           "null",
                           R"({"release": false})",
                           R"({"release": 1})",
                           R"({"release": true, "status": 200})",
                           R"({"status": 99})",
                           R"({"status": 100})",
                           R"({"status": 600})",
                           R"({"status": "200"})",
                           R"({"body": "x"})",
                           R"({"status": 200, "body": "x", "body_base64": "eA=="})",
                           R"({"status": 200, "body": {}})",
                           R"({"status": 200, "body_base64": "eA"})",
                           R"({"status": 204, "body": "x"})",
                           R"({"status": 200, "bdoy": "x"})",
                           R"({"status": 200, "headers": {"A": "b"}})",
                           R"({"status": 200, "headers": [["A"]]})",
                           R"({"status": 200, "headers": [["A B", "c"]]})",
                           R"({"release": true} x)"})
    EXPECT_NE(error_of(text), "") << text;
}

TEST(SettleRequest, stores_no_header_that_could_end_a_line_or_speak_for_the_gateway) {
  for (const char* header : {R"(["A", "b\r\nC: d"])", R"(["A", "b\u0000"])", R"(["Content-Length", "3"])",
                             R"(["transfer-encoding", "chunked"])", R"(["Stet-Outcome", "completed"])",
                             R"(["Idempotent-Replayed", "true"])"})
    EXPECT_NE(error_of(std::string(R"({"status": 200, "headers": [)") + header + "]}"), "") << header;
}

Record unknown_since(milliseconds ago) {
  Record record;
  record.token = {"s", "k", Nonce::random(), 1};
  record.state = State::unknown;
  record.created_at = kNow - ago;
  return record;
}

TEST(SettlePlan, settles_an_unknown_record_under_a_fresh_nonce) {
  const Record record = unknown_since(1h);
  const auto plan = plan_settle(record, {}, kNow, kCompletion);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->seen, record.token);
  EXPECT_NE(plan->nonce, record.token.nonce);
  EXPECT_FALSE(plan->answer);
}

TEST(SettlePlan, releases_a_fresh_attempt_only_with_force) {
  const Record record = unknown_since(9min);
  EXPECT_EQ(plan_settle(record, {}, kNow, kCompletion).error(), SettleRefusal::too_fresh);
  EXPECT_TRUE(plan_settle(record, {std::nullopt, Force::yes}, kNow, kCompletion));
  EXPECT_TRUE(plan_settle(record, {Answer{201, {}, ""}, Force::no}, kNow, kCompletion))
      << "an answer runs nothing again";
  EXPECT_TRUE(plan_settle(unknown_since(10min), {}, kNow, kCompletion));
}

TEST(SettlePlan, takes_a_later_attempt_whose_time_nobody_knows_for_a_fresh_one) {
  Record record = unknown_since(48h);
  record.token.attempt = 2;
  EXPECT_EQ(plan_settle(record, {}, kNow, kCompletion).error(), SettleRefusal::too_fresh);
  record.state = State::pending;
  record.lease_until = kNow - 11min;
  EXPECT_TRUE(plan_settle(record, {}, kNow, kCompletion));
}

TEST(SettlePlan, leaves_a_live_owner_and_a_settled_record_alone) {
  Record record = unknown_since(1h);
  record.state = State::pending;
  record.lease_until = kNow + 1s;
  EXPECT_EQ(plan_settle(record, {std::nullopt, Force::yes}, kNow, kCompletion).error(),
            SettleRefusal::still_owned);
  for (const State state : {State::completed, State::expired}) {
    record.state = state;
    EXPECT_EQ(plan_settle(record, {std::nullopt, Force::yes}, kNow, kCompletion).error(),
              SettleRefusal::settled_already);
  }
}

}  // namespace
}  // namespace stet::admin
