#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "config/key_material.hpp"
#include "config/load_for_test.hpp"

namespace stet::config {
namespace {

using namespace testing;

std::string file_with(const std::string& line) {
  return "upstream = \"http://127.0.0.1:3000\"\n" + line + "\n";
}

Expected<Loaded, std::vector<Finding>> load_file(const std::string& path, mode_t mode,
                                                 const std::string& line) {
  std::ofstream(path) << file_with(line);
  ::chmod(path.c_str(), mode);
  Flags flags;
  flags.file = path;
  return load({flags, environment({{"TOKEN", "from-env"}, {"EMPTY", ""}})});
}

TEST(Secrets, come_from_the_environment_or_a_file) {
  const Directory directory;
  std::ofstream(directory.file("token")) << "from-file\n";
  const std::string path = directory.file("stet.toml");
  EXPECT_EQ(load_file(path, 0644, "admin_token = \"env:TOKEN\"")->config->admin_token, "from-env");
  EXPECT_EQ(
      load_file(path, 0644, "admin_token = \"file:" + directory.file("token") + "\"")->config->admin_token,
      "from-file");
  EXPECT_TRUE(load_file(path, 0644, "admin_token = \"env:TOKEN\"")->warnings.empty());
}

TEST(Secrets, in_plain_text_are_a_warning_where_everybody_can_read_them) {
  const Directory directory;
  const std::string path = directory.file("stet.toml");
  const auto open = load_file(path, 0644, "admin_token = \"s3cret\"");
  ASSERT_TRUE(open);
  EXPECT_EQ(open->config->admin_token, "s3cret");
  ASSERT_EQ(open->warnings.size(), 1u);
  EXPECT_TRUE(open->warnings[0].text().starts_with(path + ":2:15: warning: ")) << open->warnings[0].text();
  EXPECT_EQ(open->warnings[0].text().find("s3cret"), std::string::npos)
      << "a message must not show the secret";
  EXPECT_TRUE(load_file(path, 0640, "admin_token = \"s3cret\"")->warnings.empty());

  Flags flags;
  flags.upstream = {"http://h"};
  flags.set = {"admin_token=\"s3cret\""};
  const auto shown = load({flags, environment({})});
  ASSERT_TRUE(shown);
  ASSERT_EQ(shown->warnings.size(), 1u);
  EXPECT_TRUE(shown->warnings[0].text().starts_with("--set admin_token: warning: "));
}

TEST(Secrets, that_are_not_there_are_errors_that_name_where_they_should_be) {
  const Directory directory;
  const std::string path = directory.file("stet.toml");
  const auto error = [&](const std::string& value) {
    const auto loaded = load_file(path, 0600, "admin_token = \"" + value + "\"");
    return loaded ? std::string() : loaded.error()[0].what;
  };
  EXPECT_NE(error("env:NOT_SET").find("NOT_SET is not set"), std::string::npos);
  EXPECT_NE(error("env:EMPTY").find("EMPTY is empty"), std::string::npos);
  EXPECT_NE(error("env:").find("env:NAME"), std::string::npos);
  EXPECT_NE(error("file:/nowhere/token").find("/nowhere/token cannot be read"), std::string::npos);
  EXPECT_NE(error("file:/tmp").find("not a file"), std::string::npos);
  EXPECT_NE(error("").find("empty"), std::string::npos);
  EXPECT_NE(error("evn:TOKEN").find("did you mean \"env:\""), std::string::npos);
  EXPECT_NE(error("ENV:TOKEN").find("did you mean \"env:\""), std::string::npos);
  std::ofstream(directory.file("empty")) << "\n";
  EXPECT_NE(error("file:" + directory.file("empty")).find("is empty"), std::string::npos);
}

TEST(EncryptionKeys, are_32_bytes_in_hex_or_base64) {
  EXPECT_EQ(decode_encryption_key(std::string(64, 'F')), std::string(32, '\xff'));
  EXPECT_EQ(decode_encryption_key("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")->size(), 32u);
  EXPECT_EQ(decode_encryption_key("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")->back(), '\x1f');
  for (const std::string& text : {std::string(), std::string(32, 'a'), std::string(63, 'a'),
                                  std::string(64, 'g'), std::string("short")})
    EXPECT_FALSE(decode_encryption_key(text)) << text;
}

TEST(PublicKeys, must_be_public_and_fit_for_RS256_or_ES256) {
  EXPECT_EQ(public_key_error(kPublicKey), "");
  EXPECT_NE(public_key_error("nonsense"), "");
  EXPECT_NE(
      public_key_error("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n").find("private"),
      std::string::npos);
  const char* ed25519 =
      "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END "
      "PUBLIC KEY-----\n";
  EXPECT_NE(public_key_error(ed25519).find("neither"), std::string::npos);
}

}  // namespace
}  // namespace stet::config
