#include "config/route_table.hpp"

#include <gtest/gtest.h>

namespace stet::config {
namespace {

Config with_routes(std::initializer_list<const char*> matches) {
  Config config;
  config.defaults.name = "defaults";
  for (const char* text : matches) {
    Route route;
    route.match = parse_match(text).value();
    route.name = text;
    config.routes.push_back(route);
  }
  return config;
}

std::string found(std::initializer_list<const char*> matches, std::string_view method,
                  std::string_view path) {
  const Config config = with_routes(matches);
  return RouteTable(config).find(method, path).name;
}

bool can_shadow(const char* earlier, const char* later, std::string_view method = "POST") {
  return covers(parse_match(earlier).value(), parse_match(later).value(), method);
}

TEST(RouteTable, takes_the_first_match_and_else_the_defaults) {
  const auto routes = {"POST /charges/special", "POST,PATCH /charges/*", "POST /**"};
  EXPECT_EQ(found(routes, "POST", "/charges/special"), "POST /charges/special");
  EXPECT_EQ(found(routes, "PATCH", "/charges/special"), "POST,PATCH /charges/*");
  EXPECT_EQ(found(routes, "POST", "/charges/7"), "POST,PATCH /charges/*");
  EXPECT_EQ(found(routes, "POST", "/charges/7/refunds"), "POST /**");
  EXPECT_EQ(found(routes, "POST", "/"), "POST /**");
  EXPECT_EQ(found(routes, "PUT", "/charges/7"), "defaults");
}

TEST(RouteTable, is_not_fooled_by_another_spelling_of_the_path) {
  const auto routes = {"POST /charges"};
  for (const char* path : {"/charges", "/%63harges", "/%63%68arges", "/a/../charges", "/a/%2e%2e/charges",
                           "/./charges", "//charges"})
    EXPECT_EQ(found(routes, "POST", path), "POST /charges") << path;
  for (const char* path :
       {"/charges/", "/Charges", "/charges/x", "/charge", "/", "/charges%2F", "/charges;v=1"})
    EXPECT_EQ(found(routes, "POST", path), "defaults") << path;
}

TEST(RouteTable, lets_an_encoded_slash_stay_inside_its_segment) {
  const auto routes = {"PUT /files/*", "PUT /files/**"};
  EXPECT_EQ(found(routes, "PUT", "/files/a%2Fb"), "PUT /files/*");
  EXPECT_EQ(found(routes, "PUT", "/files/a/b"), "PUT /files/**");
  EXPECT_EQ(found({"PUT /a%2Fb"}, "PUT", "/a%2fb"), "PUT /a%2Fb");
  EXPECT_EQ(found({"PUT /a%2Fb"}, "PUT", "/a/b"), "defaults");
  EXPECT_EQ(found({"PUT /caf%C3%A9"}, "PUT", "/caf%c3%a9"), "PUT /caf%C3%A9");
}

TEST(RouteTable, knows_a_star_as_one_segment_and_two_as_the_rest) {
  EXPECT_EQ(found({"POST /a/*"}, "POST", "/a/"), "defaults") << "a trailing slash is no segment";
  EXPECT_EQ(found({"POST /a/*/c"}, "POST", "/a/b/c"), "POST /a/*/c");
  EXPECT_EQ(found({"POST /a/**"}, "POST", "/a/"), "POST /a/**");
  EXPECT_EQ(found({"POST /a/**"}, "POST", "/a/b/c/"), "POST /a/**");
  EXPECT_EQ(found({"POST /a/**"}, "POST", "/a"), "defaults");
  EXPECT_EQ(found({"POST /a/"}, "POST", "/a/"), "POST /a/");
}

TEST(RouteTable, compares_a_path_with_a_broken_escape_as_it_stands) {
  EXPECT_EQ(found({"POST /charges/*"}, "POST", "/charges/%zz"), "POST /charges/*");
  EXPECT_EQ(found({"POST /charges"}, "POST", ""), "defaults");
}

TEST(Match, refuses_what_could_never_match_and_says_what_was_meant) {
  for (const char* text : {"",
                           "POST",
                           "/charges",
                           "POST ",
                           "POST charges",
                           "post /charges",
                           "POST, PUT /charges",
                           "POST,POST /a",
                           ",POST /a",
                           "* /a",
                           "P(ST /a",
                           "POST /a?x=1",
                           "POST /a#b",
                           "POST /a/**/b",
                           "POST /a/b*",
                           "POST /a/../b",
                           "POST /./a",
                           "POST /%2e/a",
                           "POST /a%zz",
                           "POST //a"})
    EXPECT_FALSE(parse_match(text)) << text;
  EXPECT_NE(parse_match("post /a").error().find("\"POST\""), std::string::npos);
  EXPECT_NE(parse_match("POST a").error().find("\"/a\""), std::string::npos);
}

TEST(Cover, sees_when_a_later_route_can_never_match) {
  EXPECT_TRUE(can_shadow("POST /a", "POST /a"));
  EXPECT_TRUE(can_shadow("POST /**", "POST /a/b"));
  EXPECT_TRUE(can_shadow("POST /**", "POST /"));
  EXPECT_TRUE(can_shadow("POST /a/*", "POST /a/b"));
  EXPECT_TRUE(can_shadow("POST /a/*", "POST /a/*"));
  EXPECT_TRUE(can_shadow("POST /a/**", "POST /a/*/c/**"));
  EXPECT_TRUE(can_shadow("POST /a/**", "POST /a/**"));
  EXPECT_FALSE(can_shadow("POST /a/*", "POST /a/**"));
  EXPECT_FALSE(can_shadow("POST /a/*", "POST /a/"));
  EXPECT_FALSE(can_shadow("POST /a/b", "POST /a/*"));
  EXPECT_FALSE(can_shadow("POST /a/**", "POST /a"));
  EXPECT_FALSE(can_shadow("POST /a", "PUT /a", "PUT"));
}

TEST(KeyMode, protects_POST_and_PATCH_and_what_a_route_names) {
  Route route;
  EXPECT_EQ(route.key_mode("POST"), KeyMode::optional);
  EXPECT_EQ(route.key_mode("PATCH"), KeyMode::optional);
  for (const char* method : {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PURGE"})
    EXPECT_EQ(route.key_mode(method), KeyMode::off) << method;

  route.key = KeyMode::required;
  EXPECT_EQ(route.key_mode("POST"), KeyMode::required);
  EXPECT_EQ(route.key_mode("PUT"), KeyMode::off) << "no route names it";
  EXPECT_EQ(route.key_mode("GET"), KeyMode::off) << "safe methods are never keyed";

  route.match = parse_match("PUT,GET /a").value();
  EXPECT_EQ(route.key_mode("PUT"), KeyMode::required);
  EXPECT_EQ(route.key_mode("GET"), KeyMode::off);
  route.key.reset();
  EXPECT_EQ(route.key_mode("PUT"), KeyMode::optional) << "passed through unless a route names it";
  route.key_from.kind = KeySource::Kind::path;
  EXPECT_EQ(route.key_mode("PUT"), KeyMode::required) << "a natural key is there to be used";
  EXPECT_EQ(route.key_mode("GET"), KeyMode::off);
  route.key = KeyMode::off;
  EXPECT_EQ(route.key_mode("PUT"), KeyMode::off);
}

}  // namespace
}  // namespace stet::config
