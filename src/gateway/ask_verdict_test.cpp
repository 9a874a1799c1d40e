#include "gateway/ask_verdict.hpp"

#include <gtest/gtest.h>

namespace stet::gateway {
namespace {

Subanswer answer(int status, std::initializer_list<Header> lines, std::string body = {}) {
  Subanswer made;
  made.status = status;
  for (const Header& line : lines) made.fields.add(line.name, line.value);
  made.body = std::move(body);
  return made;
}

TEST(AskVerdict, carries_the_original_answer) {
  const AskVerdict verdict = ask_verdict(
      answer(200, {{"Stet-Answer", "1"}, {"Stet-Status", "201"}, {"Location", "/charges/1"}}, "{}"), {});
  const Answer& original = std::get<asked::Completed>(verdict).answer;
  EXPECT_EQ(original.status, 201);
  EXPECT_EQ(original.headers, (Headers{{"Location", "/charges/1"}}));
  EXPECT_EQ(original.body, "{}");
}

TEST(AskVerdict, promises_with_the_attempts_number) {
  const AskVerdict verdict = ask_verdict(answer(404, {{"Stet-Not-Executed", "2"}}), {});
  EXPECT_EQ(std::get<asked::NeverExecuted>(verdict).attempt, 2u);
}

TEST(AskVerdict, promises_nothing_by_a_bare_404) {
  EXPECT_TRUE(std::holds_alternative<asked::Nothing>(ask_verdict(answer(404, {}), {})));
}

TEST(AskVerdict, says_nothing_without_a_valid_status) {
  for (const char* status : {"", "20x", "99", "600", "-1", "201 "}) {
    EXPECT_TRUE(std::holds_alternative<asked::Nothing>(
        ask_verdict(answer(200, {{"Stet-Answer", "1"}, {"Stet-Status", status}}), {})))
        << status;
  }
  EXPECT_TRUE(std::holds_alternative<asked::Nothing>(
      ask_verdict(answer(500, {{"Stet-Answer", "1"}, {"Stet-Status", "201"}}), {})));
}

TEST(AskVerdict, says_nothing_when_it_contradicts_itself) {
  EXPECT_TRUE(std::holds_alternative<asked::Nothing>(ask_verdict(
      answer(200, {{"Stet-Answer", "1"}, {"Stet-Status", "201"}, {"Stet-Not-Executed", "1"}}), {})));
  EXPECT_TRUE(std::holds_alternative<asked::Nothing>(
      ask_verdict(answer(404, {{"Stet-Not-Executed", "1"}, {"Stet-Not-Executed", "2"}}), {})));
  EXPECT_TRUE(
      std::holds_alternative<asked::Nothing>(ask_verdict(answer(404, {{"Stet-Not-Executed", "true"}}), {})));
}

}  // namespace
}  // namespace stet::gateway
