#include "probe/report.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace stet::probe {
namespace {

Finding finding(const char* check, Result result, Harm harm = Harm::none, const char* worst = "") {
  Finding one;
  one.check = check;
  one.result = result;
  one.did = "did <it>";
  one.expected = "one | effect";
  one.saw = "two \"effects\" \x89";
  one.harm = harm;
  one.worst = worst;
  if (result == Result::fail) one.reproduce = {"curl -i -X POST 'http://h/'  # 201"};
  return one;
}

Report report() {
  Report all;
  all.target = "POST http://h/";
  all.started = "2026-01-02T03:04:05Z";
  all.oracle = Oracle::counted;
  all.findings = {
      finding("repeat", Result::pass),
      finding("key-forms", Result::fail, Harm::form, "an empty key is accepted"),
      finding("at-once", Result::fail, Harm::doubled, "two simultaneous requests with one key charged twice"),
      finding("no-key", Result::warn), finding("kill", Result::skip)};
  return all;
}

TEST(Report, ends_with_a_line_that_anyone_understands) {
  EXPECT_EQ(report().verdict(),
            "NOT safe to retry: 2 of 4 checks failed. The worst: two simultaneous requests with one key "
            "charged twice.");
  Report good = report();
  std::erase_if(good.findings, [](const Finding& one) { return one.result == Result::fail; });
  EXPECT_EQ(good.verdict(), "Safe to retry, as far as 2 checks can tell; 1 gave a warning; 1 skipped.");
  good.oracle = Oracle::none;
  EXPECT_NE(good.verdict().find("Much weaker"), std::string::npos);
  good.no_verdict = "the API cannot be reached";
  EXPECT_EQ(good.verdict(), "No verdict: the API cannot be reached");
}

TEST(Report, gives_the_exit_code) {
  EXPECT_EQ(exit_code({report()}), 1);
  Report good = report();
  std::erase_if(good.findings, [](const Finding& one) { return one.result == Result::fail; });
  EXPECT_EQ(exit_code({good}), 0);
  EXPECT_EQ(exit_code({good, report()}), 1);
  good.no_verdict = "out of time";
  EXPECT_EQ(exit_code({good}), 3);
  EXPECT_EQ(exit_code({}), 3);
}

TEST(Report, as_json_is_one_object_with_the_contract_s_members) {
  const boost::json::value value = boost::json::parse(to_json({report()}));
  const auto& object = value.as_object();
  EXPECT_EQ(object.at("target"), "POST http://h/");
  EXPECT_EQ(object.at("started"), "2026-01-02T03:04:05Z");
  EXPECT_EQ(object.at("passed"), 1);
  EXPECT_EQ(object.at("failed"), 2);
  EXPECT_TRUE(object.at("verdict").is_string());
  const auto& check = object.at("checks").as_array().at(1).as_object();
  EXPECT_EQ(check.at("check"), "key-forms");
  EXPECT_EQ(check.at("result"), "fail");
  for (const char* name : {"did", "expected", "saw"}) EXPECT_TRUE(check.at(name).is_string()) << name;
  EXPECT_EQ(check.at("reproduce").as_array().size(), 1U);
  EXPECT_EQ(boost::json::parse(to_json({report(), report()})).as_object().at("targets").as_array().size(),
            2U);
}

TEST(Report, as_junit_escapes_and_counts) {
  const std::string xml = to_junit({report()});
  EXPECT_NE(xml.find("tests=\"5\" failures=\"2\" errors=\"0\" skipped=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("did &lt;it&gt;"), std::string::npos);
  EXPECT_NE(xml.find("<failure message=\"an empty key is accepted\">"), std::string::npos);
}

TEST(Report, as_markdown_keeps_its_table_whole) {
  const std::string text = to_markdown({report()});
  EXPECT_NE(text.find("| **fail** | at-once |"), std::string::npos) << text;
  EXPECT_NE(text.find("**NOT safe to retry"), std::string::npos);
}

TEST(Report, as_text_shows_curl_lines_under_a_failure_and_colour_only_when_asked) {
  const std::string text = text_finding(report().findings[1], Colour::no);
  EXPECT_NE(text.find("curl -i -X POST 'http://h/'"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text_finding(report().findings[1], Colour::yes).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace stet::probe
