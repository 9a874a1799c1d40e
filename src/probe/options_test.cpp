#include "probe/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace stet::probe {
namespace {

Options plain() {
  Options options;
  options.request = {"POST", "http://127.0.0.1:8080/charges"};
  options.data = R"({"amount":4900})";
  return options;
}

Settings only(const Options& options) {
  const auto all = settings_of(options);
  EXPECT_TRUE(all) << all.error();
  return all ? all->front() : Settings{};
}

TEST(Options, complete_what_a_request_plainly_has) {
  Options options = plain();
  options.headers = {"Authorization: Bearer t", "Idempotency-Key: mine"};
  options.other = "POST /refunds";
  const Settings settings = only(options);
  EXPECT_EQ(*find_header(settings.request.headers, "Content-Type"), "application/json");
  EXPECT_EQ(find_header(settings.request.headers, "Idempotency-Key"), nullptr) << "the probe chooses keys";
  EXPECT_EQ(settings.other->url.text(), "http://127.0.0.1:8080/refunds");
  EXPECT_EQ(settings.other->body, settings.request.body);
  Options form = plain();
  form.request = {"http://127.0.0.1/a"};
  form.data = "amount=1";
  EXPECT_EQ(*find_header(only(form).request.headers, "Content-Type"), "application/x-www-form-urlencoded");
}

TEST(Options, take_secrets_from_the_environment_and_remember_them) {
  ::setenv("STET_TEST_TOKEN", "s3cret", 1);
  Options options = plain();
  options.headers = {"Authorization: Bearer {{env:STET_TEST_TOKEN}}"};
  const Settings settings = only(options);
  EXPECT_EQ(*find_header(settings.request.headers, "Authorization"), "Bearer s3cret");
  ASSERT_EQ(settings.secrets.size(), 1U);
  EXPECT_EQ(settings.secrets.front().name, "STET_TEST_TOKEN");
  options.headers = {"Authorization: Bearer {{env:STET_NO_SUCH}}"};
  EXPECT_NE(settings_of(options).error().find("STET_NO_SUCH"), std::string::npos);
}

TEST(Options, name_the_word_that_is_wrong) {
  const auto mistake = [](auto change) {
    Options options = plain();
    change(options);
    const auto all = settings_of(options);
    return all ? std::string() : all.error();
  };
  EXPECT_EQ(mistake([](Options&) {}), "");
  EXPECT_NE(mistake([](Options& o) { o.request = {"POST", "ftp://x"}; }).find("request"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.request = {}; }).find("request"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.curl = "curl http://h/"; }).find("choose one"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.timeout = "30"; }).find("timeout"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.rounds = 0; }).find("rounds"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.only = {"repeet"}; }).find("repeet"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.count = "/data"; }).find("--effects"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.start = "x"; }).find("--kill"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.data = "@/no/such/file"; }).find("/no/such/file"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.headers = {"no colon"}; }).find("header"), std::string::npos);
  EXPECT_EQ(mistake([](Options& o) { o.effects = "GET /effects"; }), "");
  EXPECT_NE(mistake([](Options& o) { o.effects = "GET"; }).find("effects"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.operations = {"x"}; }).find("--openapi"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.other_data = "{}"; }).find("--other"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.cacert = "/no/such/file"; }).find("/no/such/file"), std::string::npos);
  EXPECT_NE(mistake([](Options& o) { o.effects_sink = "9999"; }).find("effects-sink"), std::string::npos);
}

}  // namespace
}  // namespace stet::probe
