#include "http/problem.hpp"

#include <gtest/gtest.h>

#include "http/problem_pages.hpp"

namespace stet::http {
namespace {

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(Problems, have_the_statuses_of_the_contract) {
  const std::pair<Problem, int> table[] = {
      {Problem::key_missing, 400},          {Problem::key_invalid, 400},
      {Problem::scope_undefined, 400},      {Problem::bad_request, 400},
      {Problem::credentials_invalid, 401},  {Problem::in_progress, 409},
      {Problem::answer_not_kept, 409},      {Problem::key_expired, 409},
      {Problem::body_too_large, 413},       {Problem::key_reused, 422},
      {Problem::store_corrupt, 500},        {Problem::outcome_unknown, 502},
      {Problem::upstream_unreachable, 502}, {Problem::store_unavailable, 503},
      {Problem::auth_unavailable, 503},     {Problem::overloaded, 503},
      {Problem::still_running, 504}};
  for (const auto& [problem, status] : table) {
    EXPECT_EQ(status_of(problem), status) << name(problem);
    EXPECT_FALSE(title_of(problem).empty());
    EXPECT_EQ(problem_named(name(problem)), problem);
  }
  EXPECT_EQ(problem_named("no-such"), std::nullopt);
}

TEST(Problems, are_written_with_every_member_that_applies) {
  Shown shown = problem(Problem::answer_not_kept, Outcome::replayed, "It was \"large\".");
  shown.id = OperationId{};
  shown.retry_after = milliseconds(1001);
  shown.upstream_status = 503;
  shown.original_status = 201;
  shown.original_location = "/charges/1";
  EXPECT_EQ(problem_json(shown, 409),
            "{\"type\":\"/.well-known/stet/problems/answer-not-kept\","
            "\"title\":\"The request was carried out, and its answer was too large to keep\",\"status\":409,"
            "\"detail\":\"It was \\\"large\\\".\",\"instance\":\"00000000000000000000000000000000\","
            "\"retryable\":false,\"new_key_safe\":false,\"retry_after\":2,\"upstream_status\":503,"
            "\"original_status\":201,\"original_location\":\"/charges/1\"}");
}

TEST(Problems, leave_out_what_does_not_apply) {
  const std::string json = problem_json(problem(Problem::key_missing, Outcome::not_executed, ""), 400);
  for (const char* member : {"detail", "instance", "retry_after", "upstream_status", "original_"}) {
    EXPECT_EQ(json.find(member), std::string::npos) << member;
  }
  EXPECT_NE(json.find("\"new_key_safe\":true"), std::string::npos);
}

TEST(Problems, become_an_answer_that_no_cache_keeps) {
  Shown shown = problem(Problem::in_progress, Outcome::in_progress, "Wait.");
  shown.id = OperationId{};
  shown.retry_after = milliseconds(400);
  const Answer answer = problem_answer(shown, 425);
  const Headers expected = {{"Content-Type", "application/problem+json"},
                            {"Cache-Control", "no-store"},
                            {"Retry-After", "1"},
                            {"Stet-Operation", "00000000000000000000000000000000"},
                            {"Stet-Outcome", "in-progress"}};
  EXPECT_EQ(answer.status, 425);
  EXPECT_EQ(answer.headers, expected);
  EXPECT_NE(answer.body.find("\"status\":425"), std::string::npos);
}

TEST(Problems, claim_nothing_about_an_operation_when_there_was_none) {
  const Answer answer = problem_answer(problem(Problem::bad_request, Outcome::not_executed, "Two Hosts."));
  EXPECT_EQ(answer.headers.size(), 2U);
}

TEST(JsonString, escapes_what_JSON_and_pages_cannot_hold) {
  EXPECT_EQ(json_string("a\"b\\c\n\r\t"), "\"a\\\"b\\\\c\\n\\r\\t\"");
  EXPECT_EQ(json_string(std::string_view("\0\x1f\x7f", 3)), "\"\\u0000\\u001f\\u007f\"");
  EXPECT_EQ(json_string("</script>&"), "\"\\u003c/script\\u003e\\u0026\"");
  EXPECT_EQ(json_string("caf\xc3\xa9 \xf0\x9f\x98\x80"), "\"caf\xc3\xa9 \xf0\x9f\x98\x80\"");
}

TEST(JsonString, replaces_what_is_no_UTF_8) {
  EXPECT_EQ(json_string("\xff"), "\"\\ufffd\"");
  EXPECT_EQ(json_string("\xc0\xaf"), "\"\\ufffd\\ufffd\"");             // overlong
  EXPECT_EQ(json_string("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");  // a surrogate
  EXPECT_EQ(json_string("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
  EXPECT_EQ(json_string("a\xe2\x82"), "\"a\\ufffd\\ufffd\"");  // cut
}

TEST(ProblemPages, say_what_happened_whether_to_retry_and_what_to_do) {
  for (int i = 0; i <= static_cast<int>(Problem::still_running); ++i) {
    const auto problem = static_cast<Problem>(i);
    const ProblemText& text = problem_text(problem);
    EXPECT_GT(text.happened.size(), 40U) << name(problem);
    EXPECT_GT(text.safe_to_retry.size(), 20U) << name(problem);
    EXPECT_GT(text.what_to_do.size(), 40U) << name(problem);
    const std::string page = problem_page(problem);
    EXPECT_NE(page.find(std::string("<code>") + std::string(name(problem)) + "</code>, status"),
              std::string::npos);
    EXPECT_EQ(page.find('`'), std::string::npos);
    EXPECT_NE(problem_index_page().find(type_of(problem)), std::string::npos);
  }
}

}  // namespace
}  // namespace stet::http
