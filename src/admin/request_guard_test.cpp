#include "admin/request_guard.hpp"

#include <gtest/gtest.h>

namespace stet::admin {
namespace {

struct RequestGuard : testing::Test {
  config::Config config;
  AdminRequest request;
  RequestGuard() {
    request.head.method = "GET";
    request.head.target = "/api/operations";
  }
  // Instead of what was said before under that name.
  void say(const std::string& name, const std::string& value) {
    std::erase_if(request.head.fields.lines(), [&](const Header& line) { return line.name == name; });
    request.head.fields.add(name, value);
  }
  void host(const std::string& value) { say("Host", value); }
  int status() const {
    const auto refused = refuse(config, request);
    return refused ? refused->status : 0;
  }
};

TEST_F(RequestGuard, takes_addresses_localhost_and_the_configured_name_for_itself) {
  config.admin.host = "stet.internal";
  for (const char* name : {"127.0.0.1:9090", "127.0.0.1", "[::1]:9090", "10.0.0.7:1", "localhost:9090",
                           "LOCALHOST", "stet.internal:9090"}) {
    host(name);
    EXPECT_EQ(status(), 0) << name;
  }
}

// A page whose own name has been made to resolve to 127.0.0.1 sends that name in Host.
TEST_F(RequestGuard, refuses_a_name_that_was_rebound_to_our_address) {
  for (const char* name : {"evil.example", "evil.example:9090", "127.0.0.1.evil.example",
                           "localhost.evil.example", "127.0.0.1@evil.example", "[::1", ""}) {
    host(name);
    EXPECT_EQ(status(), 421) << name;
  }
}

TEST_F(RequestGuard, refuses_requests_from_pages_of_other_sites) {
  host("127.0.0.1:9090");
  for (const char* origin :
       {"http://evil.example", "null", "http://127.0.0.1:3000", "http://localhost:9090", ""}) {
    say("Origin", origin);
    EXPECT_EQ(status(), 403) << origin;
  }
  say("Origin", "http://127.0.0.1:9090");
  EXPECT_EQ(status(), 0);
}

TEST_F(RequestGuard, wants_the_token_where_there_is_one) {
  config.admin_token = "s3cret";
  host("127.0.0.1");
  EXPECT_EQ(status(), 401);
  for (const char* wrong :
       {"Bearer s3cre", "Bearer s3cret2", "Bearer", "Bearer ", "Basic s3cret", "s3cret"}) {
    say("Authorization", wrong);
    EXPECT_EQ(status(), 401) << wrong;
  }
  say("Authorization", "bearer s3cret");
  EXPECT_EQ(status(), 0);
  request.head.fields.add("Authorization", "Bearer s3cret");
  EXPECT_EQ(status(), 401);  // twice
}

TEST_F(RequestGuard, takes_any_name_from_who_knows_the_token) {
  config.admin_token = "s3cret";
  host("stet.monitoring.svc:9090");
  EXPECT_EQ(status(), 401);
  say("Authorization", "Bearer s3cret");
  EXPECT_EQ(status(), 0);
}

TEST_F(RequestGuard, answers_health_checks_without_a_token) {
  config.admin_token = "s3cret";
  host("127.0.0.1");
  for (const char* path : {"/livez", "/readyz"}) {
    request.head.target = path;
    EXPECT_EQ(status(), 0) << path;
  }
  request.head.target = "/metrics";
  EXPECT_EQ(status(), 401);
}

TEST_F(RequestGuard, takes_changes_only_as_json) {
  host("127.0.0.1");
  request.head.method = "POST";
  EXPECT_EQ(status(), 415);
  for (const char* type :
       {"text/plain", "application/x-www-form-urlencoded", "application/jsonp", "text/plain;json"}) {
    say("Content-Type", type);
    EXPECT_EQ(status(), 415) << type;
  }
  for (const char* type : {"application/json", "Application/JSON; charset=utf-8", "application/json ;x"}) {
    say("Content-Type", type);
    EXPECT_EQ(status(), 0) << type;
  }
}

TEST_F(RequestGuard, lets_a_health_check_of_http_1_0_come_without_a_host) {
  request.head.minor = 0;
  EXPECT_EQ(status(), 0);
  request.head.minor = 1;
  EXPECT_EQ(status(), 421);
}

TEST_F(RequestGuard, compares_secrets_of_any_length) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_FALSE(same_secret("abc", "abd"));
  EXPECT_FALSE(same_secret("abc", "ab"));
  EXPECT_FALSE(same_secret("", "a"));
}

}  // namespace
}  // namespace stet::admin
