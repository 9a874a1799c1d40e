#include "config/promise.hpp"

#include <gtest/gtest.h>

#include "config/load_for_test.hpp"

namespace stet::config {
namespace {

using namespace testing;

const std::string kTop = "upstream = \"http://h\"\nstore = \"postgresql://db/stet\"\n";

const Route& only_route(const Expected<Loaded, std::vector<Finding>>& loaded) {
  EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error()[0].text());
  return loaded->config->routes.at(0);
}

void expect_refused(const std::string& text, const std::string& place, const std::string& words) {
  const auto errors = errors_of(kTop + text);
  ASSERT_EQ(errors.size(), 1u) << text;
  EXPECT_NE(errors[0].find("stet.toml:" + place), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find(words), std::string::npos) << errors[0];
}

TEST(Promise, of_joining_makes_the_records_joined_ones) {
  const auto loaded = load_only(kTop + "[[route]]\nmatch = \"POST /a\"\nupstream_joins = true\n");
  const Policy& policy = only_route(loaded).policy;
  EXPECT_EQ(policy.promise, UpstreamPromise::joins);
  EXPECT_EQ(policy.terms.on_unknown, OnUnknown::joined);
  EXPECT_EQ(loaded->config->defaults.policy.terms.on_unknown, OnUnknown::fail);
}

TEST(Promise, of_joining_takes_the_place_of_what_was_inherited) {
  const auto loaded =
      load_only(kTop +
                "[defaults]\non_unknown = \"retry\"\nupstream_idempotent = true\nrelease = [503]\n"
                "on_store_failure = \"open\"\n"
                "[[route]]\nmatch = \"POST /a\"\nupstream_joins = true\n"
                "[[route]]\nmatch = \"POST /b\"\n");
  const Policy& joins = only_route(loaded).policy;
  EXPECT_EQ(joins.promise, UpstreamPromise::joins);
  EXPECT_EQ(joins.terms.on_unknown, OnUnknown::joined);
  EXPECT_EQ(joins.on_store_failure, OnStoreFailure::closed);
  const Policy& other = loaded->config->routes.at(1).policy;
  EXPECT_EQ(other.promise, UpstreamPromise::idempotent);
  EXPECT_EQ(other.terms.on_unknown, OnUnknown::retry);
}

TEST(Promise, of_joining_can_be_inherited_and_taken_back) {
  const auto loaded = load_only(kTop +
                                "[defaults]\nupstream_joins = true\n[[route]]\nmatch = \"POST /a\"\n"
                                "upstream_joins = false\n[[route]]\nmatch = \"POST /b\"\n");
  EXPECT_EQ(only_route(loaded).policy.terms.on_unknown, OnUnknown::fail);
  EXPECT_EQ(only_route(loaded).policy.promise, UpstreamPromise::none);
  EXPECT_EQ(loaded->config->routes.at(1).policy.terms.on_unknown, OnUnknown::joined);
  EXPECT_EQ(loaded->config->defaults.policy.terms.on_unknown, OnUnknown::joined);
}

TEST(Promise, of_joining_leaves_nothing_to_say_of_unknown_outcomes) {
  expect_refused("[defaults]\nupstream_joins = true\non_unknown = \"ask\"\nreconcile.url = \"http://h/o\"",
                 "5:14", "with upstream_joins the record says it");
  expect_refused("[defaults]\nupstream_joins = true\nupstream_idempotent = true", "5:23", "two promises");
  expect_refused("[defaults]\nupstream_joins = true\non_store_failure = \"open\"", "5:20", "without a claim");
  for (const std::string list : {"record", "release", "unknown"})
    expect_refused("[defaults]\nupstream_joins = true\n" + list + " = [503]", "5:", list + " has no say");
  // Inherited, and contradicted by the route itself.
  expect_refused("[defaults]\nupstream_joins = true\n[[route]]\nmatch = \"POST /a\"\nrelease = [503]", "7:11",
                 "say upstream_joins = false");
  EXPECT_TRUE(
      errors_of(kTop + "[defaults]\nupstream_joins = true\non_unknown = \"fail\"\nrecord = []").empty());
}

TEST(Promise, needs_tokens_that_go_where_services_can_use_them) {
  const std::map<std::string, std::string> key{{"K", std::string(64, '0')}};
  EXPECT_TRUE(sends_token(*load_only(kTop)->config));
  EXPECT_FALSE(sends_token(*load_only("upstream = \"http://h\"")->config));
  EXPECT_FALSE(sends_token(*load_only(kTop + "store_options.encryption_key = \"env:K\"", key)->config));
}

}  // namespace
}  // namespace stet::config
