#include <gtest/gtest.h>

#include "cases.hpp"
#include "streams.hpp"

namespace stet::wire {
namespace {

std::string_view outcome_of(const AnswerCase& one, const UpstreamStream& stream) {
  if (stream.error) return stream.error->kind == http::WireErrorKind::truncated ? "truncated" : "refused";
  return stream.consumed < one.bytes.size() ? "excess" : "whole";
}

void expect_as_the_case_says(const AnswerCase& one, const UpstreamStream& stream) {
  EXPECT_EQ(outcome_of(one, stream), one.outcome) << (stream.error ? stream.error->detail : "");
  if (stream.error) {
    EXPECT_TRUE(is_one_of(stream.error->detail, one.why)) << stream.error->detail;
    return;
  }
  EXPECT_EQ(stream.status, one.status);
  EXPECT_EQ(stream.body, one.body);
  if (one.interims > 0) EXPECT_EQ(stream.interims, one.interims);
  if (one.persistence) EXPECT_EQ(name(stream.persistence), *one.persistence);
}

const std::vector<AnswerCase>& cases() {
  static const auto loaded = load_answer_cases(STET_WIRE_CASES "/answers.json");
  return loaded;
}

TEST(WireAnswers, are_many) {
  EXPECT_GE(cases().size(), 80U);
}

TEST(WireAnswers, are_judged_as_the_table_says_when_they_come_whole) {
  for (const AnswerCase& one : cases()) {
    SCOPED_TRACE(one.name + " (" + one.source + ")");
    expect_as_the_case_says(one, read_upstream_stream(one.bytes, one.method, {}));
  }
}

TEST(WireAnswers, are_judged_as_the_table_says_when_they_come_byte_by_byte) {
  for (const AnswerCase& one : cases()) {
    SCOPED_TRACE(one.name + " (" + one.source + ")");
    UpstreamStream stream = read_upstream_stream(one.bytes, one.method, cut_everywhere(one.bytes));
    expect_as_the_case_says(one, stream);
  }
}

TEST(WireAnswers, are_judged_the_same_wherever_they_are_cut_in_two) {
  for (const AnswerCase& one : cases()) {
    SCOPED_TRACE(one.name + " (" + one.source + ")");
    const UpstreamStream whole = read_upstream_stream(one.bytes, one.method, {});
    const std::size_t step = one.bytes.size() > 1000 ? one.bytes.size() / 97 : 1;
    for (std::size_t at = 1; at < one.bytes.size(); at += step) {
      const UpstreamStream cut = read_upstream_stream(one.bytes, one.method, {at});
      ASSERT_EQ(outcome_of(one, cut), outcome_of(one, whole)) << "cut at " << at;
      ASSERT_EQ(cut.status, whole.status) << "cut at " << at;
      if (!cut.error) ASSERT_EQ(cut.body, whole.body) << "cut at " << at;
    }
  }
}

// Every message that was cut short at any byte is either not yet an answer or an error, never a shorter
// answer.
TEST(WireAnswers, are_never_whole_when_their_end_is_missing) {
  for (const AnswerCase& one : cases()) {
    if (one.outcome != "whole" || one.persistence == "close") continue;
    SCOPED_TRACE(one.name);
    const std::string_view bytes = one.bytes;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const UpstreamStream stream = read_upstream_stream(bytes.substr(0, size), one.method, {});
      EXPECT_TRUE(stream.error.has_value()) << "of " << size << " bytes";
    }
  }
}

}  // namespace
}  // namespace stet::wire
