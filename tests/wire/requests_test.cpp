#include <gtest/gtest.h>

#include "cases.hpp"
#include "streams.hpp"

namespace stet::wire {
namespace {

using Then = ClientStream::Then;

void expect_as_the_case_says(const RequestCase& one, const ClientStream& stream) {
  const std::string_view then = stream.then == Then::end    ? "end"
                                : stream.then == Then::more ? "more"
                                                            : "refused";
  EXPECT_EQ(then, one.then) << (stream.error ? stream.error->detail : "");
  if (stream.error) {
    EXPECT_TRUE(is_one_of(stream.error->detail, one.why)) << stream.error->detail;
  }
  ASSERT_EQ(stream.requests.size(), one.requests.size());
  for (std::size_t i = 0; i < one.requests.size(); ++i) {
    const ExpectedRequest& expected = one.requests[i];
    const http::RequestHead& head = stream.requests[i].head;
    EXPECT_EQ(head.method, expected.method);
    if (expected.target) EXPECT_EQ(head.target, *expected.target);
    if (expected.body) EXPECT_EQ(stream.requests[i].body, *expected.body);
    if (expected.host) EXPECT_EQ(head.host(), *expected.host);
    if (expected.upgrade) EXPECT_EQ(head.upgrade, *expected.upgrade);
    if (expected.framing) EXPECT_EQ(name(head.framing), *expected.framing);
    if (expected.persistence) EXPECT_EQ(name(head.persistence), *expected.persistence);
    if (expected.minor) EXPECT_EQ(head.minor, *expected.minor);
    if (expected.expects_continue) EXPECT_EQ(head.expects_continue, *expected.expects_continue);
  }
}

http::Trailers trailers_of(const RequestCase& one) {
  return one.trailers == "drop" ? http::Trailers::drop : http::Trailers::refuse;
}

const std::vector<RequestCase>& cases() {
  static const auto loaded = load_request_cases(STET_WIRE_CASES "/requests.json");
  return loaded;
}

TEST(WireRequests, are_many_and_most_of_them_hostile) {
  std::size_t refused = 0;
  for (const RequestCase& one : cases()) refused += one.then == "refused" ? 1 : 0;
  EXPECT_GE(cases().size(), 300U);
  EXPECT_GE(refused, 200U);
}

TEST(WireRequests, are_judged_as_the_table_says_when_they_come_whole) {
  for (const RequestCase& one : cases()) {
    SCOPED_TRACE(one.name + " (" + one.source + ")");
    expect_as_the_case_says(one, read_client_stream(one.bytes, trailers_of(one), {}));
  }
}

TEST(WireRequests, are_judged_as_the_table_says_when_they_come_byte_by_byte) {
  for (const RequestCase& one : cases()) {
    SCOPED_TRACE(one.name + " (" + one.source + ")");
    expect_as_the_case_says(one, read_client_stream(one.bytes, trailers_of(one), cut_everywhere(one.bytes)));
  }
}

TEST(WireRequests, are_judged_the_same_wherever_they_are_cut_in_two) {
  for (const RequestCase& one : cases()) {
    SCOPED_TRACE(one.name + " (" + one.source + ")");
    const ClientStream whole = read_client_stream(one.bytes, trailers_of(one), {});
    const std::size_t step =
        one.bytes.size() > 1000 ? one.bytes.size() / 97 : 1;  // the long ones are all alike
    for (std::size_t at = 1; at < one.bytes.size(); at += step) {
      const ClientStream cut = read_client_stream(one.bytes, trailers_of(one), {at});
      ASSERT_EQ(cut.then, whole.then) << "cut at " << at;
      ASSERT_EQ(cut.requests.size(), whole.requests.size()) << "cut at " << at;
      ASSERT_EQ(cut.error.has_value(), whole.error.has_value()) << "cut at " << at;
      if (cut.error) {
        ASSERT_EQ(cut.error->detail, whole.error->detail) << "cut at " << at;
      }
      for (std::size_t i = 0; i < cut.requests.size(); ++i) {
        ASSERT_EQ(cut.requests[i].body, whole.requests[i].body) << "cut at " << at;
      }
    }
  }
}

}  // namespace
}  // namespace stet::wire
