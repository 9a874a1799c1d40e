#include "config/load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "config/load_for_test.hpp"

namespace stet::config {
namespace {

using namespace std::chrono_literals;
using namespace testing;

constexpr const char* kMinimal = "upstream = \"http://127.0.0.1:3000\"\n";

void write(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

TEST(Loading, needs_nothing_but_an_upstream) {
  const auto loaded = load_only(kMinimal);
  ASSERT_TRUE(loaded) << texts(loaded.error()).front();
  const Config& config = *loaded->config;
  EXPECT_TRUE(loaded->warnings.empty());
  EXPECT_EQ(config.listen.port, 8080);
  EXPECT_EQ(config.admin.port, 9090);
  EXPECT_EQ(config.store, "sqlite:stet.db");
  ASSERT_EQ(config.upstream.size(), 1u);
  EXPECT_EQ(config.upstream[0].port, 3000);
  EXPECT_EQ(config.drain_time(), 35s);
  EXPECT_EQ(config.defaults.name, "defaults");
  EXPECT_TRUE(config.routes.empty());
}

TEST(Loading, lets_flags_beat_the_environment_and_that_the_file) {
  const char* file =
      "upstream = \"http://file\"\nlisten = \"127.0.0.1:1\"\nadmin = \"127.0.0.1:2\"\nlog.format = \"off\"\n"
      "store = \"sqlite:file.db\"\n[defaults]\nwait = \"1s\"\n";
  Sources sources{{},
                  environment({{"STET_LISTEN", "127.0.0.1:3"},
                               {"STET_ADMIN", "127.0.0.1:4"},
                               {"STET_UPSTREAM", "http://a, http://b"},
                               {"STET_STORE", "sqlite:env.db"},
                               {"STET_LOG", ""}})};
  auto loaded = load_text(file, "f", sources);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config->listen.port, 3);
  EXPECT_EQ(loaded->config->admin.port, 4);
  EXPECT_EQ(loaded->config->upstream.size(), 2u);
  EXPECT_EQ(loaded->config->upstream[1].host, "b");
  EXPECT_EQ(loaded->config->store, "sqlite:env.db");
  EXPECT_EQ(loaded->config->log_format, LogFormat::off) << "an empty variable is as good as none";

  sources.flags.set = {"listen=\"127.0.0.1:5\"", "admin=\"127.0.0.1:6\"", "defaults.wait=\"2s\"",
                       "log.format=\"text\""};
  sources.flags.admin = "127.0.0.1:7";
  sources.flags.upstream = {"http://c"};
  loaded = load_text(file, "f", sources);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config->listen.port, 5);
  EXPECT_EQ(loaded->config->admin.port, 7) << "a flag of its own beats --set";
  EXPECT_EQ(loaded->config->upstream.size(), 1u);
  EXPECT_EQ(loaded->config->defaults.policy.wait, 2s);
  EXPECT_EQ(loaded->config->log_format, LogFormat::text);
}

TEST(Loading, lets_every_route_inherit_the_defaults_key_by_key) {
  const auto loaded = load_only(std::string(kMinimal) + R"(
[defaults]
in_progress = "wait"
wait = "3s"
fingerprint.ignore = ["/sent_at"]
release = [400, 404]

[[route]]
match = "POST /a"
wait = "1s"

[[route]]
match = "POST /b"
fingerprint.ignore = []
record = [404]
release = ["5xx"]
)");
  ASSERT_TRUE(loaded) << texts(loaded.error()).front();
  ASSERT_EQ(loaded->config->routes.size(), 2u);
  const Route& a = loaded->config->routes[0];
  EXPECT_EQ(a.policy.in_progress, InProgressMode::wait);
  EXPECT_EQ(a.policy.wait, 1s);
  EXPECT_EQ(a.fingerprint.ignore, std::vector<std::string>{"/sent_at"});
  EXPECT_EQ(a.policy.statuses.meaning(400), StatusMeaning::release);
  const Route& b = loaded->config->routes[1];
  EXPECT_EQ(b.policy.wait, 3s);
  EXPECT_TRUE(b.fingerprint.ignore.empty());
  EXPECT_EQ(b.policy.statuses.meaning(404), StatusMeaning::record);
  EXPECT_EQ(b.policy.statuses.meaning(400), StatusMeaning::record)
      << "the route's own `release` replaces the inherited one";
  EXPECT_EQ(b.policy.statuses.meaning(500), StatusMeaning::release);
}

// apache/polaris PR3803: credentials in stored answers.
TEST(Loading, keeps_no_answer_on_a_route_that_records_none) {
  const auto loaded =
      load_only("upstream = \"http://127.0.0.1:1\"\n[[route]]\nmatch = \"POST /tokens\"\nrecord = []\n");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config->routes[0].max_response_body, 0u);
  EXPECT_EQ(loaded->config->defaults.max_response_body, 1u << 20);
}

TEST(Loading, reads_dotted_keys_and_tables_alike) {
  const auto dotted = load_only(std::string(kMinimal) + "limits.waiters = 7\nlimits.keep_alive = \"5s\"\n");
  const auto table = load_only(std::string(kMinimal) + "[limits]\nwaiters = 7\nkeep_alive = \"5s\"\n");
  const auto line = load_only(std::string(kMinimal) + "limits = { waiters = 7, keep_alive = \"5s\" }\n");
  // waiters_per_key keeps its default, which a smaller limit of all waiters caps.
  for (const auto* loaded : {&dotted, &table, &line}) {
    ASSERT_TRUE(*loaded);
    EXPECT_EQ((*loaded)->config->limits.waiters, 7u);
    EXPECT_EQ((*loaded)->config->limits.keep_alive, 5s);
  }
}

TEST(Loading, finds_its_file_by_flag_or_environment_and_reads_it_again_for_a_reload) {
  const Directory directory;
  const std::string path = directory.file("stet.toml");
  write(path, std::string(kMinimal) + "[defaults]\nwait = \"1s\"\n");
  const auto by_variable = load({{}, environment({{"STET_CONFIG", path}})});
  ASSERT_TRUE(by_variable);
  Flags flags;
  flags.file = path;
  flags.set = {"defaults.lease=\"7s\""};
  const auto loaded = load({flags, environment({{"STET_CONFIG", "/nowhere"}})});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->config->defaults.policy.wait, 1s);

  write(path, std::string(kMinimal) + "[defaults]\nwait = \"2s\"\n");
  const auto again = reload(*loaded);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->config->defaults.policy.wait, 2s);
  EXPECT_EQ(again->config->defaults.policy.lease, 7s) << "the flags still hold";
  EXPECT_EQ(loaded->config->defaults.policy.wait, 1s) << "the old one is untouched";

  write(path, "upstream = 1\n");
  const auto broken = reload(*again);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error()[0].place.text(), path + ":1:12");
}

TEST(Loading, says_when_the_file_cannot_be_read) {
  Flags flags;
  flags.file = "/nowhere/stet.toml";
  const auto missing = load({flags, environment({})});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error()[0].text(), "/nowhere/stet.toml: cannot be read: No such file or directory");
  flags.file = "/tmp";
  EXPECT_EQ(load({flags, environment({})}).error()[0].text(), "/tmp: cannot be read: it is a directory");
}

TEST(Loading, names_the_flag_or_variable_that_is_wrong) {
  Flags flags;
  flags.upstream = {"http://127.0.0.1:3000"};
  flags.listen = "8080";
  flags.set = {"defaults.wait=2", "defaults.lease=5s", "retension=\"1h\"", "nonsense"};
  const auto loaded = load({flags, environment({{"STET_ADMIN", "x"}})});
  ASSERT_FALSE(loaded);
  std::vector<std::string> places;
  for (const Finding& finding : loaded.error()) places.push_back(finding.place.text());
  for (const char* place : {"--listen", "--set defaults.wait", "--set defaults.lease", "--set retension",
                            "--set nonsense", "STET_ADMIN"})
    EXPECT_NE(std::find(places.begin(), places.end(), place), places.end()) << place;
  EXPECT_EQ(places.size(), 6u);
}

TEST(Loading, asks_for_an_upstream_where_the_command_line_could_have_named_it) {
  const auto loaded = load({{}, environment({})});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().size(), 1u);
  EXPECT_EQ(loaded.error()[0].place.text(), "--upstream");
}

TEST(Loading, takes_routes_from_the_command_line_too) {
  Flags flags;
  flags.set = {"route=[{match = \"PUT /x\", key = \"required\"}]"};
  const auto loaded = load_text(kMinimal, "f", {flags, environment({})});
  ASSERT_TRUE(loaded);
  ASSERT_EQ(loaded->config->routes.size(), 1u);
  EXPECT_EQ(loaded->config->routes[0].key_mode("PUT"), KeyMode::required);
}

TEST(Loading, gives_the_drain_its_time_from_the_slowest_route) {
  const auto loaded =
      load_only(std::string(kMinimal) + "[[route]]\nmatch = \"POST /slow\"\nresponse_timeout = \"90s\"\n");
  EXPECT_EQ(loaded->config->drain_time(), 95s);
  EXPECT_EQ(load_only(std::string("drain = \"0s\"\n") + kMinimal)->config->drain_time(), 0s);
}

}  // namespace
}  // namespace stet::config
