#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "probe/testing.hpp"

namespace stet::probe::testing {
namespace {

// Only a process can be killed: the servers of examples/servers are small ones (they need python3).
Settings settings_for(const std::string& server, const OwnPort& port, const std::string& folder) {
  Settings settings = ToyApi(Flaw::none).settings();
  settings.request.url.port = port.number();
  settings.request.url.target = "/charges";
  settings.effects = {};
  settings.effects.request = "GET /charges";
  settings.effects.pointer = "/data";
  settings.exec_command = "exec python3 " STET_EXAMPLES "/servers/" + server + ".py --port " +
                          std::to_string(port.number()) + " --db " + folder + "/charges.db";
  settings.rounds = 6;
  return settings;
}

class Kill : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::system("python3 -c 'import sqlite3' 2>/dev/null") != 0) GTEST_SKIP() << "no python3 with sqlite3";
    std::string pattern = ::testing::TempDir() + "stet-kill-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  std::string folder_;
  OwnPort port_;
};

TEST_F(Kill, passes_where_key_effect_and_answer_are_one_transaction) {
  const Finding finding = probe_with(checks::kill, settings_for("right", port_, folder_));
  EXPECT_EQ(finding.result, Result::pass) << finding.saw;
}

TEST_F(Kill, fails_where_nobody_frees_the_lock_of_the_dead) {
  Settings settings = settings_for("eternal_lock", port_, folder_);
  settings.rounds = 40;  // until one kill meets the work
  const Finding finding = probe_with(checks::kill, settings);
  EXPECT_EQ(finding.result, Result::fail);
  EXPECT_EQ(finding.harm, Harm::stuck);
  EXPECT_NE(finding.worst.find("stays locked"), std::string::npos) << finding.worst;
}

TEST(KillWithoutMeans, is_skipped) {
  const Finding finding = probe_with(checks::kill, Flaw::none);
  EXPECT_EQ(finding.result, Result::skip);
  EXPECT_NE(finding.saw.find("--exec"), std::string::npos);
}

}  // namespace
}  // namespace stet::probe::testing
