#include "config/units.hpp"

#include <gtest/gtest.h>

#include <array>

namespace stet::config {
namespace {

using namespace std::chrono_literals;

TEST(Durations, are_a_whole_number_and_a_unit) {
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("0s"), 0ms);
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("24h"), 24h);
  EXPECT_EQ(parse_duration("36500d"), std::chrono::hours(24) * 36500);
  EXPECT_EQ(parse_duration("forever", Forever::allowed), kForever);
}

TEST(Durations, refuse_everything_else_and_say_what_was_meant) {
  for (const char* text : {"", "s", "1", "1.5s", "-1s", " 1s", "1 s", "1s ", "1S", "1e3s", "+1s", "1h30m",
                           "forever", "36501d", "99999999999999999999s", "9223372036854775807d"})
    EXPECT_FALSE(parse_duration(text)) << text;
  EXPECT_NE(parse_duration("10").error().find("\"10s\""), std::string::npos);
  EXPECT_NE(parse_duration("10min").error().find("\"10m\""), std::string::npos);
  EXPECT_NE(parse_duration("10 sec").error().find("\"10s\""), std::string::npos);
  EXPECT_NE(parse_duration("2H").error().find("\"2h\""), std::string::npos);
}

TEST(Durations, are_read_as_they_are_written) {
  for (const milliseconds duration : {milliseconds(0), milliseconds(1), milliseconds(1500),
                                      milliseconds(90'000), milliseconds(86'400'000), kForever})
    EXPECT_EQ(parse_duration(duration_text(duration), Forever::allowed), duration);
  EXPECT_EQ(duration_text(60s), "1m");
  EXPECT_EQ(duration_text(90s), "90s");
}

TEST(Sizes, are_a_whole_number_and_a_binary_unit) {
  EXPECT_EQ(parse_size("10KiB"), 10u << 10);
  EXPECT_EQ(parse_size("1MiB"), 1u << 20);
  EXPECT_EQ(parse_size("2GiB"), 2ull << 30);
  for (const char* text :
       {"", "MiB", "1.5MiB", "-1KiB", "1 KiB", "1KB", "1kib", "1025GiB", "99999999999999999999KiB"})
    EXPECT_FALSE(parse_size(text)) << text;
  EXPECT_NE(parse_size("10KB").error().find("\"10KiB\""), std::string::npos);
  EXPECT_NE(parse_size("10mb").error().find("\"10MiB\""), std::string::npos);
  EXPECT_NE(parse_size("1024").error().find("neither unit nor quotes"), std::string::npos);
  EXPECT_EQ(size_text(1 << 20), "1MiB");
  EXPECT_EQ(size_text(1000), "1000");
}

TEST(Endpoints, are_a_host_and_a_port) {
  EXPECT_EQ(parse_endpoint("127.0.0.1:0")->port, 0);
  EXPECT_EQ(parse_endpoint("[::1]:8080")->host, "::1");
  EXPECT_EQ(parse_endpoint("localhost:65535")->port, 65535);
  for (const char* text :
       {"", "8080", "127.0.0.1", ":8080", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:+1", "::1:8080",
        "[::1]", "[::1]8080", "[]:1", "http://127.0.0.1:80", "a b:1", "127.0.0.1:80x"})
    EXPECT_FALSE(parse_endpoint(text)) << text;
  EXPECT_NE(parse_endpoint(":8080").error().find("0.0.0.0:8080"), std::string::npos);
}

TEST(Endpoints, know_what_only_this_machine_reaches) {
  for (const char* host : {"127.0.0.1", "127.9.9.9", "::1", "localhost"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "127.evil.example", "1270.0.0.1"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

TEST(Urls, keep_their_path_without_its_last_slash) {
  const auto url = parse_url("https://api.example/v1/", UrlQuery::refused);
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme, UpstreamUrl::Scheme::https);
  EXPECT_EQ(url->host, "api.example");
  EXPECT_EQ(url->port, 443);
  EXPECT_EQ(url->path, "/v1");
  EXPECT_EQ(parse_url("http://[::1]:3000/", UrlQuery::refused)->host, "::1");
  EXPECT_EQ(parse_url("http://h", UrlQuery::refused)->path, "");
  EXPECT_EQ(parse_url("http://h?a=b", UrlQuery::allowed)->path, "/?a=b");
}

TEST(Urls, refuse_what_would_be_ignored) {
  for (const char* text :
       {"", "127.0.0.1:3000", "ftp://h", "http://", "http:///x", "http://u:p@h", "http://h:0", "http://h:x",
        "http://h/?a", "http://h/#a", "http://h/a b", "HTTP://h", "http://h\r\n"})
    EXPECT_FALSE(parse_url(text, UrlQuery::refused)) << text;
}

TEST(StoreUrls, are_those_that_this_release_can_open) {
  EXPECT_TRUE(check_store("sqlite:stet.db"));
  EXPECT_TRUE(check_store("sqlite:/var/lib/stet.db"));
  EXPECT_TRUE(check_store("postgresql://h/db"));
  EXPECT_TRUE(check_store("postgres://u:p@a,b:5433/db?target_session_attrs=read-write"));
  EXPECT_NE(check_store("postgresql:h/db").error().find("two slashes"), std::string::npos);
  EXPECT_EQ(check_store("mysql://u:secret@h/db").error().find("secret"), std::string::npos);
  EXPECT_NE(check_store("redis://h").error().find("not in this release"), std::string::npos);
  EXPECT_NE(check_store("sqlite:///var/x.db").error().find("\"sqlite:/var/x.db\""), std::string::npos);
  for (const char* text : {"", "stet.db", "sqlite:", "sqlite::memory:", "mysql://h"})
    EXPECT_FALSE(check_store(text)) << text;
}

TEST(Nearest, finds_what_was_probably_meant) {
  constexpr std::array<std::string_view, 3> known{"retention", "release", "record"};
  EXPECT_EQ(nearest("retension", known), "retention");
  EXPECT_EQ(nearest("releas", known), "release");
  EXPECT_EQ(nearest("colour", known), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), known), "");
}

TEST(JsonPointers, begin_with_a_slash_and_escape_their_tildes) {
  for (const char* text : {"/a", "/a/0/b", "/", "/a~1b~0c"}) EXPECT_EQ(pointer_error(text), "") << text;
  for (const char* text : {"", "a", "/~", "/a~2"}) EXPECT_NE(pointer_error(text), "") << text;
}

}  // namespace
}  // namespace stet::config
