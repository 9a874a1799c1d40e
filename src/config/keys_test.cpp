// The list of keys says what is true: each default changes nothing, each example changes something, and is
// accepted wherever the list says that it may stand.
#include "config/keys.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "config/load_for_test.hpp"

namespace stet::config {
namespace {

using namespace testing;

template <class T>
std::string list(const std::vector<T>& values) {
  std::ostringstream out;
  for (const T& value : values) out << value << ';';
  return out.str();
}

void describe(std::ostream& out, const Route& r) {
  out << r.name << '|' << (r.key ? static_cast<int>(*r.key) : -1) << '|' << list(r.key_headers) << '|'
      << r.key_from.text << static_cast<int>(r.key_from.kind) << '|' << static_cast<int>(r.key_spelling)
      << '|';
  for (const ScopePart& part : r.scope) out << static_cast<int>(part.kind) << part.name << ';';
  out << '|' << list(r.fingerprint.ignore) << list(r.fingerprint.only) << list(r.fingerprint.headers)
      << list(r.fingerprint.secrets) << '|';
  const Policy& p = r.policy;
  out << static_cast<int>(p.terms.on_unknown) << ' ' << p.terms.retention.count() << ' '
      << p.terms.tombstone.count() << ' ' << p.lease.count() << ' ' << static_cast<int>(p.in_progress) << ' '
      << p.wait.count() << ' ' << p.response_timeout.count() << ' ' << p.completion_timeout.count() << ' '
      << static_cast<int>(p.on_store_failure) << ' ' << static_cast<int>(p.promise) << '|';
  for (int status = 100; status < 600; ++status) out << static_cast<int>(p.statuses.meaning(status));
  out << '|' << r.reconcile_url << '|' << r.upstream_joins << '|' << r.max_request_body << '|'
      << r.max_response_body << '|' << list(r.keep_headers) << '|' << list(r.drop_headers) << '|'
      << r.status_in_progress << r.status_key_reused << '\n';
}

std::string describe(const Config& c) {
  std::ostringstream out;
  out << c.listen.host << c.listen.port << '|' << c.admin.host << c.admin.port << '|';
  for (const UpstreamUrl& url : c.upstream) out << url.text << ';';
  out << c.store << '|' << c.admin_token.value_or("-") << '|' << c.drain.value_or(milliseconds(-1)).count()
      << '|' << c.sweep_every.count() << '|' << static_cast<int>(c.log_format) << static_cast<int>(c.log_keys)
      << static_cast<int>(c.upstream_host) << c.upstream_tls_verify << c.upstream_tls_ca.value_or("-") << '|';
  const Limits& l = c.limits;
  out << l.connections << ' ' << l.request_line << ' ' << l.headers << ' ' << l.header_fields << ' '
      << l.header_timeout.count() << ' ' << l.body_idle_timeout.count() << ' ' << l.keep_alive.count() << ' '
      << l.buffered_bodies << ' ' << l.waiters << ' ' << l.waiters_per_key << '|';
  const StoreOptions& s = c.store_options;
  out << s.encryption_key.value_or("-") << static_cast<int>(s.durability) << ' ' << s.free_space_floor << ' '
      << s.ballast << ' ' << s.pool << '|';
  if (c.jwt)
    out << c.jwt->secret.value_or("-") << c.jwt->public_key.value_or("-") << c.jwt->issuer.value_or("-")
        << c.jwt->audience.value_or("-");
  out << '|' << (c.auth_url ? c.auth_url->text : "-") << '|' << list(c.cors_origins) << '\n';
  describe(out, c.defaults);
  for (const Route& route : c.routes) describe(out, route);
  return out.str();
}

// Examples point to a few things outside.
Environment surroundings() {
  return environment({{"STET_ADMIN_TOKEN", "t"},
                      {"JWT_SECRET", std::string(32, 's')},
                      {"STET_FINGERPRINT_SECRET", "f"},
                      {"STET_ENCRYPTION_KEY", std::string(64, 'a')}});
}

Expected<Loaded, std::vector<Finding>> load_with(const KeyInfo& key, std::string_view value, Where where) {
  std::string text, above = "upstream = \"http://127.0.0.1:3000\"\n";
  if (key.name.starts_with("jwt.") && key.name != "jwt.secret" && key.name != "jwt.public_key")
    above += "jwt.secret = \"env:JWT_SECRET\"\n";
  if (where != Where::top) above += "store = \"postgresql://h/db\"\n";  // for upstream_joins
  const std::string line = std::string(key.name) + " = " + std::string(value) + "\n";
  const std::string scoped = key.name == "key_from" ? "scope = [\"none\"]\n" : "";
  switch (where) {
    case Where::top:
      text = (key.name == "upstream" ? "" : above) + line;
      break;
    case Where::defaults_and_route:
      text = above + "[defaults]\n" + scoped + line;
      break;
    case Where::route:
      text = above + "[[route]]\n" + (key.name == "match" ? "" : "match = \"POST /a\"\n") + scoped + line;
  }
  return load_text(text, "stet.toml", {{}, surroundings()});
}

std::vector<Where> places(const KeyInfo& key) {
  if (key.where == Where::defaults_and_route) return {Where::defaults_and_route, Where::route};
  return {key.where};
}

class Keys : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(std::filesystem::path(directory_.file("x")).parent_path());
    std::ofstream("jwt.pem") << kPublicKey;
  }
  void TearDown() override { std::filesystem::current_path(before_); }
  Directory directory_;
  std::filesystem::path before_;
};

TEST_F(Keys, have_defaults_that_change_nothing) {
  for (const KeyInfo& key : all_keys()) {
    if (key.default_value.empty()) continue;
    for (const Where where : places(key)) {
      const auto said = load_with(key, key.default_value, where);
      ASSERT_TRUE(said) << key.name << ": " << said.error()[0].text();
      // The same without the line of the key.
      const KeyInfo other{key.name == "key_from" ? "key_from" : "wait", where, "", "", ""};
      const auto unsaid = where == Where::top
                              ? load_only("upstream = \"http://127.0.0.1:3000\"")
                              : load_with(other, key.name == "key_from" ? "\"header\"" : "\"10s\"", where);
      ASSERT_TRUE(unsaid) << key.name;
      EXPECT_EQ(describe(*said->config), describe(*unsaid->config))
          << key.name << " is not " << key.default_value;
    }
  }
}

TEST_F(Keys, have_examples_that_are_accepted_and_change_something) {
  for (const KeyInfo& key : all_keys()) {
    if (key.name == "upstream_tls.ca") continue;  // not every machine has that file
    for (const Where where : places(key)) {
      const auto said = load_with(key, key.example, where);
      ASSERT_TRUE(said) << key.name << " = " << key.example << ": " << said.error()[0].text();
      if (key.example == key.default_value) continue;
      const std::string value = key.name == "key_from" ? "\"header\"" : "\"10s\"";
      const KeyInfo other{key.name == "key_from" ? "key_from" : "wait", where, "", "", ""};
      const auto unsaid = where == Where::top ? load_only("upstream = \"http://127.0.0.1:3000\"")
                                              : load_with(other, value, where);
      EXPECT_NE(describe(*said->config), describe(*unsaid->config)) << key.name << " = " << key.example;
    }
  }
}

TEST_F(Keys, are_refused_where_they_may_not_stand) {
  for (const KeyInfo& key : all_keys()) {
    const Where wrong = key.where == Where::top ? Where::route : Where::top;
    const auto loaded = load_with(key, key.example, wrong);
    ASSERT_FALSE(loaded) << key.name;
    EXPECT_NE(loaded.error()[0].text().find(std::string(key.name) + " belongs "), std::string::npos)
        << loaded.error()[0].text();
  }
}

TEST_F(Keys, are_named_once_and_explained) {
  std::set<std::string_view> names;
  for (const KeyInfo& key : all_keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_FALSE(key.meaning.empty()) << key.name;
  }
}

}  // namespace
}  // namespace stet::config
