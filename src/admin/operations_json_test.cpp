#include "admin/operations_json.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "admin/base64.hpp"

namespace stet::admin {
namespace {

namespace json = boost::json;

Record completed() {
  Record record;
  record.token = {"alice", "key-1", {}, 2};
  record.method = "POST";
  record.path = "/charges";
  record.state = State::completed;
  record.maybe_executed = true;
  record.answer =
      Answer{201, {{"Location", "/charges/7"}, {"X-A", "1"}, {"X-A", "2"}}, std::string("\0\xff{}", 4)};
  record.created_at = *parse_rfc3339("2026-01-31T09:05:00.123Z");
  record.expires_at = record.created_at + std::chrono::hours(24);
  return record;
}

TEST(OperationsJson, shows_the_members_that_operators_were_promised) {
  const json::value value = json::parse(operation_json(completed(), Detail::line));
  const json::object& object = value.get_object();
  EXPECT_EQ(object.at("id").get_string(), completed().id().text().c_str());
  EXPECT_EQ(object.at("scope").get_string(), scope_hash("alice").c_str());
  EXPECT_EQ(object.at("key").get_string(), "key-1");
  EXPECT_EQ(object.at("method").get_string(), "POST");
  EXPECT_EQ(object.at("path").get_string(), "/charges");
  EXPECT_EQ(object.at("state").get_string(), "completed");
  EXPECT_EQ(object.at("attempt").get_int64(), 2);
  EXPECT_TRUE(object.at("maybe_executed").get_bool());
  EXPECT_EQ(object.at("status").get_int64(), 201);
  EXPECT_EQ(object.at("created_at").get_string(), "2026-01-31T09:05:00.123Z");
  EXPECT_TRUE(object.at("lease_until").is_null());
  EXPECT_EQ(object.at("expires_at").get_string(), "2026-02-01T09:05:00.123Z");
  EXPECT_EQ(object.size(), 12u);
}

TEST(OperationsJson, keeps_header_lines_apart_and_any_byte_of_a_body_in_the_whole_record) {
  const json::value value = json::parse(operation_json(completed(), Detail::whole));
  const json::array& headers = value.at("headers").get_array();
  ASSERT_EQ(headers.size(), 3u);
  EXPECT_EQ(headers[2].at(0).get_string(), "X-A");
  EXPECT_EQ(headers[2].at(1).get_string(), "2");
  EXPECT_EQ(from_base64(value.at("body_base64").get_string().c_str()), std::string("\0\xff{}", 4));
  EXPECT_TRUE(value.at("body_kept").get_bool());
}

TEST(OperationsJson, says_null_where_there_is_no_answer_yet) {
  Record record = completed();
  record.state = State::pending;
  record.answer.reset();
  record.expires_at.reset();
  const json::value value = json::parse(operation_json(record, Detail::whole));
  for (const char* member : {"status", "expires_at", "headers", "body_base64"})
    EXPECT_TRUE(value.at(member).is_null()) << member;
}

TEST(OperationsJson, gives_the_cursor_of_the_next_page_or_null) {
  Page page{{completed(), completed()}, "c:1"};
  json::value value = json::parse(page_json(page));
  EXPECT_EQ(value.at("operations").get_array().size(), 2u);
  EXPECT_EQ(value.at("next").get_string(), "c:1");
  page.next.clear();
  EXPECT_TRUE(json::parse(page_json(page)).at("next").is_null());
}

TEST(ScopeHash, leaves_a_hash_alone_and_hides_any_other_scope) {
  const std::string hash(64, 'a');
  EXPECT_EQ(scope_hash(hash), hash);
  EXPECT_EQ(scope_hash("alice").size(), 64u);
  EXPECT_EQ(scope_hash("alice").find("alice"), std::string::npos);
}

TEST(Rfc3339, reads_what_it_writes_and_nothing_else) {
  for (const char* text :
       {"1970-01-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z", "2026-11-29T17:00:00.050Z"})
    EXPECT_EQ(rfc3339(parse_rfc3339(text).value()), text);
  EXPECT_EQ(rfc3339(parse_rfc3339("2026-11-29T17:00:00Z").value()), "2026-11-29T17:00:00.000Z");
  for (const char* text : {"", "2026-11-29", "2026-02-30T00:00:00Z", "2026-11-29T24:00:00Z",
                           "2026-11-29T17:00:00", "2026-11-29T17:00:00.1Z", "2026-11-29T17:00:00+01:00"})
    EXPECT_FALSE(parse_rfc3339(text)) << text;
}

TEST(Base64, reads_what_it_writes_at_every_length) {
  std::string bytes;
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    bytes.push_back(static_cast<char>(i * 37));
  }
  EXPECT_EQ(to_base64("ab"), "YWI=");
  for (const char* text : {"YWI", "YW I=", "YWJ=", "====", "Y==="}) EXPECT_FALSE(from_base64(text)) << text;
}

}  // namespace
}  // namespace stet::admin
