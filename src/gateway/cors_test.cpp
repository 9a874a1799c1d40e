#include "gateway/cors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stet::gateway {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

config::Config allowing(std::vector<std::string> origins) {
  config::Config config;
  config.cors_origins = std::move(origins);
  return config;
}

http::RequestHead request(std::string method, std::initializer_list<Header> lines) {
  http::RequestHead head;
  head.method = std::move(method);
  head.target = "/charges";
  for (const Header& line : lines) head.fields.add(line.name, line.value);
  return head;
}

std::string value(const Headers& lines, std::string_view name) {
  for (const Header& line : lines) {
    if (http::iequals(line.name, name)) return line.value;
  }
  return {};
}

const http::RequestHead kPost = request("POST", {{"Origin", "https://shop.example"}});
const http::RequestHead kPreflight =
    request("OPTIONS", {{"Origin", "https://shop.example"},
                        {"Access-Control-Request-Method", "POST"},
                        {"Access-Control-Request-Headers", "content-type, idempotency-key"}});

// solana-developer-platform PR681: browsers could not read the replay marker.
TEST(Cors, exposes_the_gateways_headers_to_an_allowed_origin) {
  Response response;
  add_cors(response, allowing({"https://shop.example"}), kPost);
  EXPECT_THAT(response.fields, Contains(Header{"Access-Control-Allow-Origin", "https://shop.example"}));
  EXPECT_THAT(value(response.fields, "Access-Control-Expose-Headers"), HasSubstr("Idempotent-Replayed"));
  EXPECT_THAT(value(response.fields, "Vary"), HasSubstr("Origin"));
}

// A replay carries what was stored for another page's origin: it is computed anew.
TEST(Cors, replaces_a_stored_origin) {
  Response response;
  response.fields = {{"Access-Control-Allow-Origin", "https://other.example"}, {"Vary", "Accept"}};
  add_cors(response, allowing({"https://shop.example"}), kPost);
  EXPECT_THAT(response.fields, Contains(Header{"Access-Control-Allow-Origin", "https://shop.example"}));
  EXPECT_THAT(response.fields, Not(Contains(Header{"Access-Control-Allow-Origin", "https://other.example"})));
  EXPECT_EQ(value(response.fields, "Vary"), "Accept, Origin");
}

TEST(Cors, gives_another_origin_nothing) {
  Response response;
  response.fields = {{"Access-Control-Allow-Origin", "https://shop.example"}};
  add_cors(response, allowing({"https://shop.example"}), request("POST", {{"Origin", "https://evil.example"}}));
  EXPECT_EQ(value(response.fields, "Access-Control-Allow-Origin"), "");
}

TEST(Cors, says_nothing_to_callers_that_are_no_browsers) {
  Response response;
  add_cors(response, allowing({"*"}), request("POST", {}));
  EXPECT_THAT(response.fields, IsEmpty());
}

TEST(Cors, extends_the_upstreams_own_exposed_list_when_not_configured) {
  Response response;
  response.fields = {{"Access-Control-Allow-Origin", "*"}, {"Access-Control-Expose-Headers", "X-Total"}};
  add_cors(response, allowing({}), kPost);
  EXPECT_THAT(value(response.fields, "Access-Control-Expose-Headers"), testing::StartsWith("X-Total, Idempotent-"));
}

TEST(Cors, adds_the_key_to_what_the_upstreams_preflight_allows) {
  Headers lines{{"Access-Control-Allow-Origin", "https://shop.example"},
                {"Access-Control-Allow-Headers", "content-type"}};
  extend_cors(lines, allowing({"https://shop.example"}), kPreflight, {});
  EXPECT_EQ(value(lines, "Access-Control-Allow-Headers"), "content-type, Idempotency-Key");
}

TEST(Cors, answers_a_preflight_that_the_upstream_does_not_know) {
  const auto response = own_preflight(allowing({"https://shop.example"}), kPreflight, {});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 204);
  EXPECT_EQ(value(response->fields, "Access-Control-Allow-Methods"), "POST");
  EXPECT_THAT(value(response->fields, "Access-Control-Allow-Headers"), HasSubstr("Idempotency-Key"));
  EXPECT_EQ(value(response->fields, "Access-Control-Allow-Origin"), "https://shop.example");
}

TEST(Cors, answers_no_preflight_of_an_origin_that_is_not_named) {
  EXPECT_FALSE(own_preflight(allowing({"https://else.example"}), kPreflight, {}));
  EXPECT_FALSE(own_preflight(allowing({}), kPreflight, {}));
  EXPECT_FALSE(own_preflight(allowing({"https://shop.example"}), kPost, {}));
}

}  // namespace
}  // namespace stet::gateway
