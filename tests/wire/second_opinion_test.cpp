#include "second_opinion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string_view>

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

// A few bytes of a stream replaced, dropped, doubled or swapped for those that matter to HTTP.
std::string mutated(std::string bytes, std::mt19937& random) {
  using namespace std::string_view_literals;
  constexpr std::string_view telling = "\r\n\0 \t:;,0123456789abcdefx-+_%?#\x7f\x80\xff"sv;
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  for (std::size_t n = 1 + below(3); n > 0 && !bytes.empty(); --n) {
    const std::size_t at = below(bytes.size());
    const char c = telling[below(telling.size())];
    switch (below(5)) {
      case 0:
        bytes[at] = c;
        break;
      case 1:
        bytes.erase(at, 1 + below(3));
        break;
      case 2:
        bytes.insert(at, 1, c);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, below(24)));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
    }
  }
  return bytes;
}

// The seed is fixed: this is a test. The fuzzers go on from here (tests/fuzz).
TEST(SecondOpinion, agrees_on_thousands_of_mutated_requests) {
  std::mt19937 random(20240229);
  std::size_t accepted = 0;
  for (const RequestCase& one : load_request_cases(STET_WIRE_CASES "/requests.json")) {
    if (one.bytes.size() > 1000) continue;
    for (int i = 0; i < 300; ++i) {
      const std::string bytes = mutated(one.bytes, random);
      accepted += read_client_stream(bytes, http::Trailers::refuse, {}).requests.size();
      ASSERT_EQ(disagreement_about_requests(bytes), std::nullopt) << testing::PrintToString(bytes);
    }
  }
  EXPECT_GT(accepted, 5000U);  // or the mutations are too wild to prove anything
}

TEST(SecondOpinion, agrees_on_thousands_of_mutated_answers) {
  std::mt19937 random(20240229);
  std::size_t accepted = 0;
  for (const AnswerCase& one : load_answer_cases(STET_WIRE_CASES "/answers.json")) {
    if (one.bytes.size() > 1000) continue;
    for (int i = 0; i < 300; ++i) {
      const std::string bytes = mutated(one.bytes, random);
      accepted += read_upstream_stream(bytes, one.method, {}).error ? 0 : 1;
      const auto difference = disagreement_about_answer(bytes, one.method);
      if (difference == "Beast refuses the answer") continue;  // our known leniencies
      ASSERT_EQ(difference, std::nullopt) << testing::PrintToString(bytes);
    }
  }
  EXPECT_GT(accepted, 2000U);
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
