#include "admin/contract.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

#include "admin/contract_terms.hpp"

namespace stet::admin {
namespace {

using namespace std::chrono_literals;

config::Config shop() {
  config::Config config;
  config.upstream.push_back(
      {config::UpstreamUrl::Scheme::http, "10.1.2.3", 3000, "", "http://10.1.2.3:3000"});
  config.admin_token = "hunter2";
  config::Route route;
  route.name = "POST /charges";
  route.match = config::Match{{"POST"}, "/charges", {}};
  route.key = config::KeyMode::required;
  route.policy.terms.retention = 7 * 24h;
  route.policy.terms.tombstone = 0ms;
  route.policy.in_progress = InProgressMode::wait;
  route.fingerprint.ignore = {"/sent_at"};
  route.fingerprint.secrets = {"pepper"};
  route.scope = {{config::ScopePart::Kind::header, "X-Trusted-Account"}};
  config.routes.push_back(route);
  return config;
}

TEST(Contract, says_for_each_route_what_is_configured) {
  const auto contract = boost::json::parse(contract_json(shop()));
  const auto& route = contract.at("routes").at(0);
  EXPECT_EQ(route.at("match"), "POST /charges");
  EXPECT_EQ(route.at("key").at("POST"), "required");
  EXPECT_EQ(route.at("key_headers").at(0), "Idempotency-Key");
  EXPECT_EQ(route.at("retention"), "7d");
  EXPECT_EQ(route.at("in_progress"), "wait");
  EXPECT_EQ(route.at("wait"), "10s");
  EXPECT_EQ(route.at("on_unknown"), "fail");
  EXPECT_EQ(route.at("fingerprint").at("ignore").at(0), "/sent_at");
  EXPECT_EQ(route.at("scope").at(0), "header");
  EXPECT_EQ(route.at("status").at("key_reused"), 422);
  EXPECT_TRUE(contract.at("defaults").at("scope").is_null());
  EXPECT_EQ(contract.at("defaults").at("key").at("POST"), "optional");
  EXPECT_EQ(contract.at("defaults").at("key").at("DELETE"), "off");
  EXPECT_EQ(contract.at("defaults").at("retention"), "1d");
}

TEST(Contract, reads_well_for_people) {
  const std::string page = contract_html(shop());
  EXPECT_NE(page.find("<h2><code>POST /charges</code></h2>"), std::string::npos);
  EXPECT_NE(page.find("A key is required, in the header <code>Idempotency-Key</code>."), std::string::npos);
  EXPECT_NE(page.find("for at least 7 days"), std::string::npos);
  EXPECT_NE(page.find("for at least 24 hours"), std::string::npos);  // the defaults
  EXPECT_NE(page.find("The key counts as new"), std::string::npos);
  EXPECT_NE(page.find("waits up to 10 seconds"), std::string::npos);
  EXPECT_NE(page.find("up to 1 MiB."), std::string::npos);
}

TEST(Contract, says_that_what_the_api_records_is_kept_where_it_joins) {
  config::Config config = shop();
  config.routes[0].upstream_joins = true;
  config.routes[0].policy.promise = UpstreamPromise::joins;
  config.routes[0].policy.terms.on_unknown = OnUnknown::joined;
  const auto contract = boost::json::parse(contract_json(config));
  const auto& route = contract.at("routes").at(0).as_object();
  EXPECT_EQ(route.at("on_unknown"), "joined");
  EXPECT_FALSE(route.contains("release"));
  EXPECT_TRUE(contract.at("defaults").as_object().contains("release"));
  const std::string page = contract_html(config);
  const std::string joins = page.substr(0, page.find("All other requests"));
  EXPECT_NE(joins.find("what the API records together with what it did"), std::string::npos);
  EXPECT_EQ(joins.find("outcome-unknown"), std::string::npos);
}

TEST(Contract, names_no_upstream_no_secret_and_no_trusted_header) {
  for (const std::string& text : {contract_json(shop()), contract_html(shop())}) {
    for (const std::string_view hidden : {"10.1.2.3", "hunter2", "pepper", "X-Trusted-Account"}) {
      EXPECT_EQ(text.find(hidden), std::string::npos) << hidden;
    }
  }
}

TEST(Contract, needs_nothing_from_elsewhere) {
  const std::string page = contract_html(shop());
  for (const std::string_view outside : {"http://", "https://", "src=", "<script", "@import", "url("}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

TEST(Contract, escapes_what_the_configuration_says) {
  config::Config config = shop();
  config.routes[0].name = "POST /a<b>&\"c\"";
  EXPECT_NE(contract_html(config).find("POST /a&lt;b&gt;&amp;&quot;c&quot;"), std::string::npos);
}

TEST(Contract, is_html_for_browsers_and_json_for_programs) {
  const auto type = [](std::string_view accept) {
    return contract_answer(shop(), accept).headers.at(0).value;
  };
  EXPECT_EQ(type("text/html,application/xhtml+xml,*/*;q=0.8"), "text/html; charset=utf-8");
  EXPECT_EQ(type("application/json"), "application/json");
  EXPECT_EQ(type("application/json, text/html;q=0.5"), "application/json");
  EXPECT_EQ(type("*/*"), "application/json");
  EXPECT_EQ(type(""), "application/json");
}

TEST(ContractTerms, list_statuses_by_class_with_their_exceptions) {
  StatusTable table;
  StatusLists lists = status_lists(table);
  EXPECT_EQ(lists.recorded, (std::vector<std::string>{"2xx", "3xx", "4xx", "5xx"}));
  EXPECT_EQ(lists.released, (std::vector<std::string>{"401", "403", "407", "425", "429"}));
  EXPECT_EQ(lists.unknown, (std::vector<std::string>{"408", "502", "503", "504"}));
  table.set_class(5, StatusMeaning::unknown);
  table.set_status(500, StatusMeaning::record);
  lists = status_lists(table);
  EXPECT_EQ(lists.recorded, (std::vector<std::string>{"2xx", "3xx", "4xx", "500"}));
  EXPECT_EQ(lists.unknown, (std::vector<std::string>{"408", "5xx"}));
}

TEST(ContractTerms, count_time_in_words) {
  EXPECT_EQ(duration_words(24h), "24 hours");
  EXPECT_EQ(duration_words(48h), "2 days");
  EXPECT_EQ(duration_words(90s), "90 seconds");
  EXPECT_EQ(duration_words(1min), "1 minute");
  EXPECT_EQ(duration_words(250ms), "250 milliseconds");
  EXPECT_EQ(duration_words(kForever), "forever");
}

TEST(ContractTerms, say_where_a_natural_key_is) {
  config::Route route;
  route.key_from.kind = config::KeySource::Kind::path;
  route.key_from.segment = 2;
  EXPECT_EQ(key_place(route), "segment 2 of the path");
  route.key_from = {};
  route.key_headers = {"Idempotency-Key", "X-Request-Id"};
  EXPECT_EQ(key_place(route), "the header `Idempotency-Key` or `X-Request-Id`");
}

}  // namespace
}  // namespace stet::admin
