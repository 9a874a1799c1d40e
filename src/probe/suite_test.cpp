#include <gtest/gtest.h>

#include <fstream>

#include "probe/options.hpp"

namespace stet::probe {
namespace {

std::string file_with(const std::string& text) {
  const std::string path = ::testing::TempDir() + "suite.toml";
  std::ofstream(path) << text;
  return path;
}

TEST(Suite, gives_each_api_the_defaults) {
  const auto suite = read_suite(file_with(R"(
[defaults]
headers = ["Authorization: Bearer t"]
rounds = 5
skip = ["kill"]

[[api]]
name = "charges"
request = "POST http://127.0.0.1:8080/charges"
body = '{"amount":4900,"note":"{{uuid}}"}'
effects = "GET /charges"
count = "/data"

[[api]]
curl = "curl http://127.0.0.1:8080/refunds -d amount=1"
rounds = 2
verify_tls = false
)"));
  ASSERT_TRUE(suite) << suite.error();
  ASSERT_EQ(suite->size(), 2U);
  EXPECT_EQ(suite->at(0).name, "charges");
  EXPECT_EQ(suite->at(0).rounds, 5);
  EXPECT_EQ(suite->at(1).rounds, 2);
  EXPECT_EQ(suite->at(1).headers.size(), 1U);
  EXPECT_EQ(suite->at(1).verify, TlsSettings::Verify::no);
}

TEST(Suite, reports_every_mistake_with_its_line) {
  const auto suite = read_suite(file_with(
      "[[api]]\nrequest = \"POST http://h/\"\nrounds = \"many\"\nefects = \"GET /\"\n\n[[apis]]\n"));
  ASSERT_FALSE(suite);
  EXPECT_NE(suite.error().find("suite.toml:3:"), std::string::npos) << suite.error();
  EXPECT_NE(suite.error().find("there is no key 'efects'"), std::string::npos) << suite.error();
  EXPECT_NE(suite.error().find("'apis'"), std::string::npos) << suite.error();
  EXPECT_NE(read_suite(file_with("[[api]\n")).error().find(":1:"), std::string::npos);
  EXPECT_NE(read_suite(file_with("")).error().find("no [[api]]"), std::string::npos);
  EXPECT_FALSE(read_suite("/no/such/file.toml"));
}

}  // namespace
}  // namespace stet::probe
