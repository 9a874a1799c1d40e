#include "second_opinion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cases.hpp"
#include "streams.hpp"

namespace stet::wire {
namespace {

TEST(SecondOpinion, agrees_on_every_request_that_we_accept) {
  std::size_t accepted = 0;
  for (const RequestCase& one : load_request_cases(STET_WIRE_CASES "/requests.json")) {
    SCOPED_TRACE(one.name);
    accepted += one.requests.size();
    EXPECT_EQ(disagreement_about_requests(one.bytes), std::nullopt);
  }
  EXPECT_GT(accepted, 60U);
}

// The two leniencies of answers, each with its reason in response_parser.cpp and field_lines.cpp.
TEST(SecondOpinion, agrees_on_every_answer_that_we_accept_but_for_known_leniencies) {
  for (const AnswerCase& one : load_answer_cases(STET_WIRE_CASES "/answers.json")) {
    SCOPED_TRACE(one.name);
    const auto difference = disagreement_about_answer(one.bytes, one.method);
    if (one.name == "no reason, no space" || one.name == "Connection that is no list") {
      EXPECT_EQ(difference, "Beast refuses the answer");
    } else {
      EXPECT_EQ(difference, std::nullopt);
    }
  }
}

// Why it is only a second opinion: requests that Debian's Beast 1.81 takes as complete, although where their
// body ends, or who they are for, depends on the reader.
TEST(SecondOpinion, would_let_through_what_two_readers_read_differently) {
  std::vector<std::string> let_through;
  for (const RequestCase& one : load_request_cases(STET_WIRE_CASES "/requests.json")) {
    if (one.then == "refused" && one.requests.empty() && beast_accepts_request(one.bytes)) {
      let_through.push_back(one.name);
    }
  }
  EXPECT_THAT(let_through, testing::IsSupersetOf({
                               "Transfer-Encoding: gzip is no chunked",
                               "Transfer-Encoding: xchunked is no chunked",
                               "Transfer-Encoding: chunked, identity is no chunked",
                               "chunked in HTTP/1.0",
                               "two equal Content-Lengths",
                               "a Content-Length as a list of equals",
                               "obs-fold of Transfer-Encoding",
                               "two different Hosts",
                               "no Host",
                               "a trailer that routes",
                               "a key as a trailer",
                               "Connection names Content-Length",
                           }));
}

}  // namespace
}  // namespace stet::wire
