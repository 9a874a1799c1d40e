#include "probe/run.hpp"

#include <gtest/gtest.h>

#include "probe/request_reader.hpp"
#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

// Takes connections and does with them what a broken server does.
class Broken {
 public:
  enum class Way { silent, hangs_up, not_http, always_500 };
  explicit Broken(Way way) : way_(way), listener_({"127.0.0.1", 0}), thread_([this] { serve(); }) {}
  ~Broken() {
    listener_.stop();
    thread_.join();
  }
  Settings settings() const {
    Settings settings;
    settings.request.url = {Scheme::http, "127.0.0.1", listener_.endpoint().port, "/"};
    settings.request_timeout = std::chrono::milliseconds(300);
    settings.timeout = std::chrono::seconds(60);
    return settings;
  }

 private:
  void serve() {
    std::vector<Wire> open;
    for (int fd = 0; (fd = listener_.accept(Clock::now() + std::chrono::minutes(1))) >= 0;) {
      open.push_back(Wire::adopt(fd));
      if (way_ == Way::hangs_up) open.back().close();
      if (way_ == Way::not_http)
        (void)open.back().send("220 mail ready\r\n\r\n", Clock::now() + std::chrono::seconds(1));
      if (way_ == Way::always_500) {
        (void)open.back().send("HTTP/1.1 500 X\r\nContent-Length: 4\r\n\r\noops",
                               Clock::now() + std::chrono::seconds(1));
      }
    }
  }
  Way way_;
  Listener listener_;
  std::thread thread_;
};

std::string verdict_of(Broken::Way way) {
  const Broken server(way);
  const auto begun = Clock::now();
  const Report report = run(server.settings());
  EXPECT_LT(Clock::now() - begun, std::chrono::seconds(20));
  EXPECT_EQ(exit_code({report}), 3);
  EXPECT_TRUE(report.findings.empty());
  return report.verdict();
}

TEST(Run, says_what_is_wrong_with_a_server_that_cannot_be_probed) {
  EXPECT_NE(verdict_of(Broken::Way::silent).find("no answer in time"), std::string::npos);
  EXPECT_NE(verdict_of(Broken::Way::hangs_up).find("no answer"), std::string::npos);
  EXPECT_NE(verdict_of(Broken::Way::not_http).find("not HTTP"), std::string::npos);
  EXPECT_NE(verdict_of(Broken::Way::always_500).find("500 oops"), std::string::npos);
}

TEST(Run, says_that_nothing_listens) {
  const OwnPort closed;
  Settings settings;
  settings.request.url = {Scheme::http, "127.0.0.1", closed.number(), "/"};
  const Report report = run(settings);
  EXPECT_EQ(exit_code({report}), 3);
  EXPECT_NE(report.verdict().find("refused"), std::string::npos) << report.verdict();
}

TEST(Run, ends_at_the_overall_time_limit_with_what_it_has) {
  const ToyApi api(Flaw::none);
  Settings settings = api.settings();
  settings.rounds = 10'000;
  settings.only = {"repeat", "at-once"};
  settings.timeout = std::chrono::seconds(2);
  const Report report = run(settings);
  EXPECT_EQ(exit_code({report}), 3);
  EXPECT_NE(report.no_verdict.find("during 'at-once': the overall --timeout of 2 s"), std::string::npos)
      << report.no_verdict;
  EXPECT_EQ(report.findings.size(), 1U);
}

TEST(Run, refuses_a_count_that_does_not_count_the_request) {
  const ToyApi api(Flaw::none);
  Settings settings = api.settings();
  settings.effects = {};
  settings.effects.command = "echo 3";
  const Report report = run(settings);
  EXPECT_EQ(exit_code({report}), 3);
  EXPECT_NE(report.no_verdict.find("does not count"), std::string::npos);
}

TEST(Run, passes_every_check_on_a_right_API) {
  const ToyApi api(Flaw::none);
  const Report report = run(api.settings());
  EXPECT_EQ(report.no_verdict, "");
  for (const Finding& finding : report.findings) {
    EXPECT_EQ(finding.result, finding.check == "kill" ? Result::skip : Result::pass)
        << finding.check << ": " << finding.saw;
  }
  EXPECT_EQ(report.findings.size(), all_checks().size());
}

TEST(Run, says_how_much_weaker_it_is_when_nothing_counts_effects) {
  const ToyApi api(Flaw::none);
  Settings settings = api.settings();
  settings.effects = {};
  settings.only = {"repeat"};
  const Report report = run(settings);
  EXPECT_EQ(exit_code({report}), 0);
  EXPECT_NE(report.verdict().find("Much weaker"), std::string::npos);
}

TEST(Run, shows_the_name_of_a_secret_and_not_the_secret) {
  const ToyApi api(Flaw::ignores_keys);
  Settings settings = api.settings();
  settings.only = {"repeat"};
  settings.request.headers = {{"Authorization", "Bearer s3cret-t0ken"}, {"Content-Type", "application/json"}};
  settings.secrets = {{"API_TOKEN", "s3cret-t0ken"}};
  const Report report = run(settings);
  ASSERT_TRUE(report.has_failed());
  for (const std::string& line : report.findings.front().reproduce)
    EXPECT_EQ(line.find("s3cret"), std::string::npos) << line;
  EXPECT_NE(report.findings.front().reproduce.front().find("Bearer '\"$API_TOKEN\"''"), std::string::npos);
}

TEST(Checks, have_an_explanation_each) {
  for (const Check* check : all_checks()) {
    EXPECT_GT(check->explanation.size(), 300U) << check->name;
    EXPECT_NE(check->explanation.find("In production:"), std::string_view::npos) << check->name;
    EXPECT_NE(check->explanation.find("Fix:"), std::string_view::npos) << check->name;
    EXPECT_TRUE(check->question.ends_with('?')) << check->name;
  }
}

}  // namespace
}  // namespace stet::probe::testing
