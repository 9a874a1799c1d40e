// Each mistake is found at its place and says what was meant, and all of them are found at once.
#include <gtest/gtest.h>

#include "config/load_for_test.hpp"

namespace stet::config {
namespace {

using namespace testing;

struct Mistake {
  std::string text;   // of the file; an upstream is added on a line of its own at the end of the top level
  const char* place;  // "line:column"
  const char* says;
};

// One mistake in a file that is right otherwise. `upstream` goes first, and stays on line 1.
void expect(const Mistake& mistake) {
  const std::string text = "upstream = \"http://127.0.0.1:3000\"\n" + mistake.text;
  const std::vector<std::string> errors = errors_of(text);
  ASSERT_EQ(errors.size(), 1u) << mistake.text
                               << (errors.empty() ? "" : "\n" + errors[0] + "\n" + errors.back());
  EXPECT_TRUE(errors[0].starts_with(std::string("stet.toml:") + mistake.place + ": ")) << mistake.text << '\n'
                                                                                       << errors[0];
  EXPECT_NE(errors[0].find(mistake.says), std::string::npos) << mistake.text << '\n' << errors[0];
}

TEST(Mistakes, in_names_are_errors_with_a_suggestion) {
  for (const Mistake& mistake : {
           Mistake{"lisen = \"a\"", "2:1", "unknown key \"lisen\", did you mean \"listen\"?"},
           {"[defaults]\nretension = \"1h\"", "3:1", "did you mean \"retention\"?"},
           {"[defaults]\nfingerprint.ignored = []", "3:13", "did you mean \"fingerprint.ignore\"?"},
           {"[defaults]\nin-progress = \"wait\"", "3:1", "did you mean \"in_progress\"?"},
           {"[limits]\nconections = 3", "3:1", "did you mean \"limits.connections\"?"},
           {"[default]\nwait = \"1s\"", "2:2", "did you mean \"defaults\"?"},
           {"[[routes]]\nmatch = \"POST /a\"", "2:3", "did you mean \"route\"?"},
           {"colour = 1", "2:1", "unknown key \"colour\""},
           {"retention = \"1h\"", "2:1", "belongs in [defaults] or in a [[route]]"},
           {"[defaults]\nlisten = \"127.0.0.1:1\"", "3:1",
            "belongs at the top level, above the first [table]"},
           {"[defaults]\nmatch = \"POST /a\"", "3:1", "belongs in a [[route]]"},
           {"log = \"text\"", "2:1", "log is a table; \"log.format\" or \"log.keys\" was meant"},
           {"\"log.format\" = \"text\"", "2:1", "log.format"},
           {"listen = { host = \"a\" }", "2:10", "a table where a string was meant"},
       })
    expect(mistake);
}

TEST(Mistakes, in_units_and_numbers_say_the_right_spelling) {
  for (const Mistake& mistake : {
           Mistake{"sweep_every = 60", "2:15", "a bare number has no unit: \"60s\" or \"60ms\" was meant?"},
           {"sweep_every = \"60\"", "2:15", "\"60s\" was meant?"},
           {"sweep_every = \"1min\"", "2:15", "\"1m\" was meant"},
           {"sweep_every = 1.5", "2:15", "a decimal number where a string was meant"},
           {"sweep_every = \"0s\"", "2:15", "a positive duration"},
           {"[defaults]\ntombstone = \"forever\"", "3:13", "not possible here"},
           {"[defaults]\nretention = \"0s\"", "3:13", "a positive duration"},
           {"[defaults]\nmax_request_body = \"10KB\"", "3:20", "\"10KiB\" was meant"},
           {"[defaults]\nmax_request_body = -1", "3:20", "negative"},
           {"[defaults]\nmax_request_body = \"2GiB\"", "3:20", "between 0 and 1GiB"},
           {"limits.connections = 0", "2:22", "from 1 to 1000000"},
           {"limits.connections = \"many\"", "2:22", "a string where a whole number was meant"},
           {"upstream_tls.verify = \"false\"", "2:23", "without quotes"},
           {"upstream_tls.verify = 0", "2:23", "true or false"},
           {"limits.waiters_per_key = 5000", "2:26", "more than limits.waiters (1024)"},
           {"[defaults]\nstatus.in_progress = 500", "3:22", "400 to 499"},
       })
    expect(mistake);
}

TEST(Mistakes, in_choices_list_what_is_possible) {
  for (const Mistake& mistake : {
           Mistake{"[defaults]\nin_progress = \"wiat\"", "3:15",
                   "did you mean \"wait\"? Possible are \"conflict\", \"wait\" or \"accept\""},
           {"[defaults]\non_unknown = \"panic\"", "3:14", "\"fail\", \"retry\" or \"ask\""},
           {"[defaults]\nkey = true", "3:7", "\"optional\", \"required\" or \"off\""},
           {"log.format = \"xml\"", "2:14", "\"json\", \"text\" or \"off\""},
           {"log.keys = \"hashed\"", "2:12", "did you mean \"hash\"?"},
           {"upstream_host = \"\"", "2:17", "\"pass\" or \"upstream\""},
           {"store_options.durability = \"half\"", "2:28", "\"full\" or \"os\""},
       })
    expect(mistake);
}

TEST(Mistakes, in_addresses_and_stores) {
  for (const Mistake& mistake : {
           Mistake{"listen = \"8080\"", "2:10", "host:port"},
           {"listen = 8080", "2:10", "a whole number where a string was meant"},
           {"listen = \"127.0.0.1:99999\"", "2:10", "no port"},
           {"admin = \"0.0.0.0:9090\"", "2:9", "needs admin_token"},
           {"admin = \"127.0.0.1:8080\"", "2:9", "listen and admin are the same address"},
           {"listen = \"127.0.0.1:3000\"", "1:12", "is the gateway itself"},
           {"store = \"postgresql:h/db\"", "2:9", "two slashes"},
           {"store = \"redis-cluster://a,b\"", "2:9", "not in this release"},
           {"store = \"stet.db\"", "2:9", "sqlite:PATH was meant"},
           {"store_options.pool = 0", "2:22", "1 to 64"},
           {"store_options.encryption_key = \"abc\"", "2:32", "openssl rand -hex 32"},
           {"tls.certificate = \"c.pem\"", "2:5", "TLS on the listener is not in this release"},
           {"[tls]\nkey = \"k.pem\"", "3:1", "TLS on the listener is not in this release"},
           {"upstream_tls.ca = \"/nowhere.pem\"", "2:19", "cannot be read"},
           {"auth.url = \"127.0.0.1\"", "2:12", "http:// or https:// URL"},
           {"cors.origins = [\"*\"]", "2:17", "name the origins"},
           {"cors.origins = [\"https://a.example/\"]", "2:17", "no origin"},
           {"cors.origins = \"https://a.example\"", "2:16", "[\"https://a.example\"]"},
           {"jwt.issuer = \"x\"", "2:14", "needs secret or public_key"},
           {"jwt.public_key = \"-----\"", "2:18", "no public key in PEM"},
       })
    expect(mistake);
  EXPECT_EQ(errors_of(""), std::vector<std::string>{"stet.toml:1:1: upstream is missing: the API to protect, "
                                                    "such as upstream = \"http://127.0.0.1:3000\""});
  EXPECT_NE(errors_of("upstream = []").at(0).find("1:12: upstream: an empty list"), std::string::npos);
  EXPECT_NE(errors_of("upstream = [\"http://a\", \"b\"]").at(0).find("1:25: upstream: \"b\" is no http"),
            std::string::npos);
}

TEST(Mistakes, in_keys_and_scopes) {
  for (const Mistake& mistake : {
           Mistake{"[defaults]\nkey_header = \"Idempotency Key\"", "3:14", "no header name"},
           {"[defaults]\nkey_header = [\"A\", \"a\"]", "3:20", "named twice"},
           {"[defaults]\nkey_header = []", "3:14", "at least one"},
           {"[defaults]\nkey_header = \"Content-Length\"", "3:14", "a meaning of its own"},
           {"[defaults]\nkey_header = \"Stet-Operation\"", "3:14", "the gateway's own"},
           {"[defaults]\nkey_from = \"body\"", "3:12", "no source of a key"},
           {"[defaults]\nkey_from = \"json:id\"", "3:12", "begins with a slash"},
           {"[defaults]\nkey_from = \"path:0\"", "3:12", "count from 1"},
           {"[defaults]\nkey_from = \"query:\"", "3:12", "names no parameter"},
           {"[defaults]\nkey_from = \"query:ref\"", "3:12", "needs an explicit scope"},
           {"[[route]]\nmatch = \"PUT /orders/*\"\nkey_from = \"path:3\"\nscope = [\"credentials\"]", "4:12",
            "has only 2 segments"},
           {"[defaults]\nscope = \"none\"", "3:9", "[\"none\"]"},
           {"[defaults]\nscope = [\"credential\"]", "3:10", "did you mean \"credentials\"?"},
           {"[defaults]\nscope = [\"header\"]", "3:10", "\"header:NAME\" was meant"},
           {"[defaults]\nscope = [\"cookie:a b\"]", "3:10", "no name of a cookie"},
           {"[defaults]\nscope = [\"auth\"]", "3:9", "needs auth.url"},
           {"[defaults]\nscope = [\"jwt:sub\"]", "3:9", "needs [jwt]"},
           {"[defaults]\nscope = [\"client-cert\"]", "3:10", "TLS on the listener"},
           {"[defaults]\nscope = [\"header:A\", \"header:a\"]", "3:22", "named twice"},
           {"[defaults]\nscope = [\"header:A\", \"none\"]", "3:22", "cannot be combined"},
           {"[defaults]\nfingerprint.ignore = [\"sent_at\"]", "3:23", "\"/sent_at\" was meant?"},
           {"[defaults]\nfingerprint.ignore = [\"/a\"]\nfingerprint.only = [\"/b\"]", "4:20",
            "exclude each other"},
           {"[defaults]\nfingerprint.headers = [\"X A\"]", "3:24", "no header name"},
       })
    expect(mistake);
}

TEST(Mistakes, that_would_break_the_guarantee) {
  for (const Mistake& mistake : {
           Mistake{"[defaults]\non_unknown = \"retry\"", "3:14", "needs upstream_idempotent = true"},
           {"[defaults]\non_unknown = \"retry\"\nupstream_idempotent = false", "3:14",
            "upstream_idempotent = true"},
           {"[defaults]\non_unknown = \"ask\"", "3:14", "needs reconcile.url"},
           {"[defaults]\non_unknown = \"ask\"\nreconcile.url = \"h\"", "4:17", "http:// or https:// URL"},
           {"[defaults]\nupstream_joins = true", "3:18", "needs the PostgreSQL store"},
           {"[defaults]\nrelease = [200]", "3:12", "would do it again"},
           {"[defaults]\nrelease = [\"2xx\"]", "3:12", "would do it again"},
           {"[defaults]\nrecord = [503]\nunknown = [503]", "4:11", "cannot be in both record and unknown"},
           {"[defaults]\nrecord = [\"503\"]", "3:11", "without quotes: 503"},
           {"[defaults]\nrecord = [\"9xx\"]", "3:11", "\"2xx\" to \"5xx\""},
           {"[defaults]\nrecord = [100]", "3:11", "200 to 599"},
           {"[defaults]\nrecord = [503, 503]", "3:16", "named twice"},
           {"[defaults]\nrecord = 503", "3:10", "a list of statuses"},
           {"limits.buffered_bodies = \"1MiB\"\n[defaults]\nmax_request_body = \"2MiB\"", "4:20",
            "larger than limits.buffered_bodies"},
       })
    expect(mistake);
}

TEST(Mistakes, in_joining_are_named_with_encryption_too) {
  const auto loaded = load_only(
      "upstream = \"http://h\"\nstore_options.encryption_key = \"env:K\"\n[defaults]\nupstream_joins = "
      "true\n",
      {{"K", std::string(64, '0')}});
  ASSERT_FALSE(loaded);
  ASSERT_EQ(loaded.error().size(), 2u);
  EXPECT_NE(loaded.error()[0].what.find("encryption_key"), std::string::npos);
  EXPECT_NE(loaded.error()[1].what.find("PostgreSQL"), std::string::npos);
}

TEST(Mistakes, between_routes) {
  for (const Mistake& mistake : {
           Mistake{"[[route]]\nkey = \"required\"", "2:1", "match is missing"},
           {"[[route]]\nmatch = \"/a\"", "3:9", "a method and a path"},
           {"[[route]]\nmatch = \"post /a\"", "3:9", "\"POST\" was meant"},
           {"[[route]]\nmatch = 5", "3:9", "a whole number where a string was meant"},
           {"[[route]]\nmatch = \"POST /**\"\n[[route]]\nmatch = \"POST /a\"", "5:9",
            "\"POST /a\" can never match, because \"POST /**\" at stet.toml:2:1 matches first"},
           {"[[route]]\nmatch = \"POST /a\"\n[[route]]\nmatch = \"PUT /a\"\n[[route]]\nmatch = \"PUT,POST "
            "/a\"",
            "7:9", "can never match"},
           {"[[route]]\nmatch = \"GET,POST /a\"\nkey = \"required\"", "4:7", "GET is never keyed"},
           {"[route]\nmatch = \"POST /a\"", "2:1", "begins with [[route]]"},
           {"route = [1]", "2:10", "begins with [[route]]"},
           {"defaults = 1", "2:12", "[defaults] was meant"},
           {"[[route]]\nmatch = \"POST /a\"\nwebhook = \"stripe\"", "4:1", "later release"},
           {"[[route]]\nmatch = \"POST /a\"\nsecret = \"env:X\"", "4:1", "later release"},
           {"[[route]]\nmatch = \"POST /a\"\ndelivery = \"queue\"", "4:1", "later release"},
       })
    expect(mistake);
  EXPECT_TRUE(
      errors_of(
          "upstream = \"http://h\"\n[[route]]\nmatch = \"POST /a\"\n[[route]]\nmatch = \"POST,PUT /a\"\n")
          .empty())
      << "PUT can still match";
}

TEST(Mistakes, in_a_route_are_not_repeated_for_what_it_inherits) {
  const auto errors = errors_of(
      "upstream = \"http://h\"\n[defaults]\non_unknown = \"retry\"\n[[route]]\nmatch = \"POST /a\"\n"
      "[[route]]\nmatch = \"POST /b\"\nupstream_idempotent = false\n");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_TRUE(errors[0].starts_with("stet.toml:3:14: "));
  EXPECT_TRUE(errors[1].starts_with("stet.toml:8:23: "));
}

TEST(Mistakes, are_all_reported_in_the_order_of_the_lines) {
  const auto errors = errors_of(R"(listen = 8080
lisen = "x"
sweep_every = 60
[defaults]
wait = "2 seconds"
[[route]]
match = "POST /a/**/b"
on_unknown = "retry"
retension = "1h"
)");
  std::vector<std::string> places;
  for (const std::string& error : errors) places.push_back(error.substr(0, error.find(": ")));
  EXPECT_EQ(places,
            (std::vector<std::string>{"stet.toml:1:1", "stet.toml:1:10", "stet.toml:2:1", "stet.toml:3:15",
                                      "stet.toml:5:8", "stet.toml:7:9", "stet.toml:8:14", "stet.toml:9:1"}));
}

TEST(Mistakes, in_the_TOML_itself_have_a_place_and_do_not_hide_the_others) {
  auto errors = errors_of("upstream = \"http://h\"\nlisten = 127.0.0.1:80\nsweep_every = 60\n");
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_TRUE(errors[0].starts_with("stet.toml:2:")) << errors[0];
  EXPECT_TRUE(errors[1].starts_with("stet.toml:3:15: ")) << errors[1];
  errors = errors_of("listen = \"127.0.0.1:1\"\nlisten = \"127.0.0.1:2\"\n");
  ASSERT_EQ(errors.size(), 1u) << "what is missing cannot be told from what could not be read";
  EXPECT_TRUE(errors[0].starts_with("stet.toml:2:")) << errors[0];
  EXPECT_EQ(errors_of("[[route]\nmatch = 1\n").size(), 1u);
}

TEST(Mistakes, that_the_parser_asserts_about_are_errors_like_any_other) {
  const auto errors = errors_of(std::string("a = 1\n[\0x]\n", 12));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0], "stet.toml:2:2: not TOML: a control character");
}

TEST(Mistakes, in_letters_that_only_strings_may_have_are_errors_too) {
  for (const char* text : {"é = 1", "a é = 1", "[é]", "\xe2\x80\xa8x = 1", "\xff\xfe"}) {
    const auto errors = errors_of(std::string("upstream = \"http://h\"\n") + text + "\n");
    ASSERT_GE(errors.size(), 1u) << text;
    EXPECT_NE(errors[0].find("not TOML"), std::string::npos) << errors[0];
  }
  EXPECT_TRUE(errors_of("upstream = \"http://h\" # é\n[[route]]\nmatch = \"POST /é\"\n").empty());
}

TEST(Mistakes, of_depth_end_before_the_stack_does) {
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  EXPECT_EQ(errors_of("\n" + deep + " = 1").at(0),
            "stet.toml:2:1: a key of more than 16 parts; none of ours has so many");
  EXPECT_EQ(errors_of("upstream = " + std::string(10'000, '[')).size(), 1u);
  EXPECT_EQ(errors_of("upstream = \"http://h\" # " + deep).size(), 1u)
      << "even there: nobody writes such a comment";
}

TEST(Warnings, say_what_is_allowed_and_unwise) {
  const auto warning = [](const std::string& line, std::map<std::string, std::string> variables = {}) {
    const auto loaded = load_only("upstream = \"http://h\"\n" + line, std::move(variables));
    if (!loaded) return "error: " + loaded.error()[0].text();
    return loaded->warnings.size() == 1 ? loaded->warnings[0].text()
                                        : std::to_string(loaded->warnings.size());
  };
  EXPECT_NE(warning("store_options.durability = \"os\"").find("2:28: warning: durability"),
            std::string::npos);
  EXPECT_NE(warning("upstream_tls.verify = false").find("2:23: warning: "), std::string::npos);
  EXPECT_NE(warning("jwt.secret = \"env:S\"", {{"S", "short"}}).find("5 bytes"), std::string::npos);
  EXPECT_EQ(warning("jwt.secret = \"env:S\"", {{"S", std::string(32, 'x')}}), "0");
}

}  // namespace
}  // namespace stet::config
