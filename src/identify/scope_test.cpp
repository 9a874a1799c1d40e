#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/digest.hpp"
#include "identify/identify.hpp"
#include "identify/request_for_test.hpp"
#include "identify/scope_rule.hpp"

namespace stet::identify {
namespace {

using config::ScopePart;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Kind = ScopePart::Kind;
using Found = Expected<Scope, Refusal>;

const WallTime kNow{std::chrono::seconds(1'800'000'000)};

Found scope_of(const std::vector<ScopePart>& parts, FieldList list,
               std::optional<std::string_view> principal = {}) {
  config::Route route;
  route.scope = parts;
  return find_scope({}, route, request("POST", "/charges", list), kNow, principal);
}
std::string value(const Found& found) {
  return found ? found->value : "(refused: " + found.error().detail + ")";
}
std::string refusal(const Found& found) {
  return found ? "(accepted)" : std::string(name(found.error().problem)) + ": " + found.error().detail;
}
ScopePart header(const char* name) {
  return {Kind::header, name};
}
ScopePart cookie(const char* name) {
  return {Kind::cookie, name};
}

// jox-sm/deepslate-rpg#104: a second user registered somebody's key first, or read their answer.
TEST(DefaultScope, is_the_callers_credentials) {
  const auto alice = scope_of({}, {{"Authorization", "Basic YWxpY2U6eA=="}});
  EXPECT_EQ(value(alice),
            value(scope_of({}, {{"authorization", "Basic YWxpY2U6eA=="}, {"User-Agent", "x"}})));
  EXPECT_NE(value(alice), value(scope_of({}, {{"Authorization", "Basic Ym9iOng="}})));
  EXPECT_EQ(alice->rule, "default");
  EXPECT_FALSE(alice->shared);
}

TEST(DefaultScope, keeps_the_three_headers_apart) {
  std::vector<std::string> seen;
  for (FieldList list : {FieldList{{"Authorization", "k"}}, FieldList{{"X-Api-Key", "k"}},
                         FieldList{{"Api-Key", "k"}}, FieldList{{"X-Api-Key", "k"}, {"Api-Key", "k"}},
                         FieldList{{"X-Api-Key", "k"}, {"Api-Key", "l"}}, FieldList{}}) {
    const auto scope = value(scope_of({}, list));
    EXPECT_THAT(scope, testing::MatchesRegex("[0-9a-f]{64}"));
    EXPECT_THAT(seen, Not(testing::Contains(scope)));
    seen.push_back(scope);
  }
}

TEST(DefaultScope, cannot_be_had_by_spelling_two_credentials_as_one) {
  const auto two = value(scope_of({}, {{"X-Api-Key", "a"}, {"Api-Key", "b"}}));
  EXPECT_NE(two, value(scope_of({}, {{"X-Api-Key", "a7:api-keyb"}})));
  EXPECT_NE(two, value(scope_of({}, {{"X-Api-Key", "a7:api-key1:b"}})));
}

TEST(DefaultScope, does_not_depend_on_the_order_of_the_fields) {
  EXPECT_EQ(value(scope_of({}, {{"X-Api-Key", "k"}, {"Authorization", "a"}})),
            value(scope_of({}, {{"Authorization", "a"}, {"X-Api-Key", "k"}})));
}

TEST(DefaultScope, does_not_reveal_credentials) {
  const auto scope = scope_of({}, {{"X-Api-Key", "sk_live_4242"}});
  EXPECT_THAT(scope->value, Not(HasSubstr("4242")));
  EXPECT_NE(scope->value, to_hex(sha256("sk_live_4242")));
  EXPECT_THAT(refusal(scope_of({}, {{"Cookie", "session=verysecret"}})), Not(HasSubstr("verysecret")));
}

TEST(DefaultScope, is_one_for_everybody_without_credentials_of_any_kind) {
  const auto scope = scope_of({}, {{"User-Agent", "curl"}});
  ASSERT_TRUE(scope) << value(scope);
  EXPECT_TRUE(scope->shared);
}

TEST(DefaultScope, is_refused_with_a_cookie_even_beside_credentials) {
  for (FieldList list : {FieldList{{"Cookie", "_ga=1; my_session=2"}},
                         FieldList{{"Cookie", "my_session=2"}, {"Authorization", "Basic x"}}}) {
    EXPECT_THAT(refusal(scope_of({}, list)),
                AllOf(StartsWith("scope-undefined: "), HasSubstr("scope = [\"cookie:my_session\"]"),
                      HasSubstr("[defaults]")));
  }
  EXPECT_THAT(refusal(scope_of({}, {{"Cookie", "_ga=1"}})), HasSubstr("scope = [\"cookie:session_id\"]"));
  EXPECT_THAT(refusal(scope_of({}, {{"Cookie", ""}})), StartsWith("scope-undefined: "));
}

TEST(DefaultScope, is_refused_with_a_header_that_may_say_who_is_calling) {
  for (const char* name :
       {"X-Auth-Token", "X-Access-Token", "X-Client-Secret", "X-Session-Id", "X-User-Auth", "X-ApiKey",
        "My-Api-Key-Id", "my_api_key", "Proxy-Authorization", "X-CSRF-TOKEN"}) {
    EXPECT_THAT(
        refusal(scope_of({}, {{name, "v"}})),
        AllOf(StartsWith("scope-undefined: "), HasSubstr("scope = [\"header:" + std::string(name) + "\"]")))
        << name;
    EXPECT_TRUE(scope_of({}, {{name, "v"}, {"Authorization", "Basic x"}})) << name;
  }
  for (const char* name : {"X-Request-Id", "Idempotency-Key", "Accept", "Content-Type", "X-Account"}) {
    EXPECT_TRUE(scope_of({}, {{name, "v"}})) << name;
  }
}

TEST(DefaultScope, does_not_take_the_routes_own_key_header_for_a_credential) {
  config::Route route;
  route.key_headers = {"X-Session-Key"};
  EXPECT_TRUE(find_scope({}, route, request("POST", "/", {{"x-session-key", "abc"}}), kNow, {}));
}

TEST(DefaultScope, is_refused_with_a_token_that_is_renewed) {
  const std::string jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2ln";
  const std::string jwe = "eyJhbGciOiJkaXIifQ..aXY.Y3Q.dGFn";
  for (const std::string& value : {"Bearer " + jwt, "bearer  " + jwt, "DPoP " + jwt, jwt, "Bearer " + jwe}) {
    EXPECT_THAT(refusal(scope_of({}, {{"Authorization", value}})),
                AllOf(StartsWith("scope-undefined: "), HasSubstr("scope = [\"jwt:sub\"]")))
        << value;
  }
  EXPECT_THAT(refusal(scope_of({}, {{"X-Api-Key", jwt}})), StartsWith("scope-undefined: "));
  for (const char* opaque : {"Bearer sk_live_4242", "Bearer SG.abc.def", "Bearer a.b",
                             "Bearer eyJhbGciOiJIUzI1NiJ9", "Basic YTpi"}) {
    EXPECT_TRUE(scope_of({}, {{"Authorization", opaque}})) << opaque;
  }
}

TEST(DefaultScope, is_refused_with_a_client_certificate_that_an_ingress_speaks_of) {
  for (const char* name : {"Client-Cert", "X-Forwarded-Client-Cert", "X-SSL-Client-S-DN"}) {
    EXPECT_THAT(refusal(scope_of({}, {{name, "v"}, {"Authorization", "Basic x"}})),
                HasSubstr("scope = [\"header:" + std::string(name) + "\"]"));
  }
}

TEST(DefaultScope, is_refused_when_a_credential_is_repeated_or_empty) {
  EXPECT_THAT(refusal(scope_of({}, {{"Authorization", "a"}, {"authorization", "a"}})),
              AllOf(StartsWith("scope-undefined: "), HasSubstr("more than one line")));
  EXPECT_THAT(refusal(scope_of({}, {{"X-Api-Key", "a"}, {"X-Api-Key", "b"}})),
              StartsWith("scope-undefined: "));
  EXPECT_THAT(refusal(scope_of({}, {{"Authorization", " "}})),
              AllOf(StartsWith("scope-undefined: "), HasSubstr("empty")));
}

TEST(DefaultScope, stays_the_same_when_credentials_are_then_named_on_purpose) {
  EXPECT_EQ(value(scope_of({}, {{"Authorization", "Basic x"}})),
            value(scope_of({{Kind::credentials, ""}}, {{"Authorization", "Basic x"}})));
}

TEST(StatedScope, takes_credentials_on_purpose_whatever_else_there_is) {
  const auto scope =
      scope_of({{Kind::credentials, ""}},
               {{"Authorization", "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2ln"}, {"Cookie", "a=b"}});
  ASSERT_TRUE(scope) << value(scope);
  EXPECT_EQ(scope->rule, "credentials");
  EXPECT_THAT(refusal(scope_of({{Kind::credentials, ""}}, {{"Cookie", "a=b"}})),
              AllOf(StartsWith("scope-undefined: "), HasSubstr("Authorization")));
  EXPECT_THAT(refusal(scope_of({{Kind::credentials, ""}}, {{"Api-Key", "a"}, {"Api-Key", "b"}})),
              StartsWith("scope-undefined: "));
}

TEST(StatedScope, takes_a_header_once_and_not_empty) {
  const auto scope = scope_of({header("X-Account")}, {{"x-account", "a1"}, {"Authorization", "anything"}});
  EXPECT_EQ(value(scope), value(scope_of({header("x-Account")}, {{"X-Account", " a1 "}})));
  EXPECT_NE(value(scope), value(scope_of({header("X-Account")}, {{"X-Account", "A1"}})));
  EXPECT_EQ(scope->rule, "header:x-account");
  for (FieldList list :
       {FieldList{}, FieldList{{"X-Account", ""}}, FieldList{{"X-Account", "a"}, {"X-Account", "a"}}}) {
    EXPECT_THAT(refusal(scope_of({header("X-Account")}, list)),
                AllOf(StartsWith("scope-undefined: "), HasSubstr("x-account")));
  }
}

TEST(StatedScope, takes_a_cookie_once_and_not_empty) {
  const auto scope = value(scope_of({cookie("sid")}, {{"Cookie", "_ga=1; sid=abc; x=y"}}));
  EXPECT_EQ(scope, value(scope_of({cookie("sid")}, {{"Cookie", "sid=abc"}})));
  EXPECT_EQ(scope, value(scope_of({cookie("sid")}, {{"Cookie", "_ga=2"}, {"Cookie", "sid=abc"}})));
  EXPECT_NE(scope, value(scope_of({cookie("sid")}, {{"Cookie", "sid=abd"}})));
  for (FieldList list :
       {FieldList{}, FieldList{{"Cookie", "SID=abc"}}, FieldList{{"Cookie", "sid="}},
        FieldList{{"Cookie", "sid"}}, FieldList{{"Cookie", "sid=abc; sid=abc"}},
        FieldList{{"Cookie", "sid=abc"}, {"Cookie", "sid=x"}}, FieldList{{"Cookie", "xsid=abc"}}}) {
    EXPECT_THAT(refusal(scope_of({cookie("sid")}, list)), StartsWith("scope-undefined: "));
  }
}

TEST(StatedScope, combines_its_parts_without_ambiguity) {
  const std::vector<ScopePart> both{header("X-A"), header("X-B")};
  const auto of = [&both](const char* a, const char* b) {
    return value(scope_of(both, {{"X-A", a}, {"X-B", b}}));
  };
  EXPECT_NE(of("ab", "c"), of("a", "bc"));
  EXPECT_NE(of("a", "b"), of("b", "a"));
  EXPECT_NE(of("a", "b"), value(scope_of({header("X-A")}, {{"X-A", "a"}})));
  EXPECT_NE(value(scope_of({header("v")}, {{"v", "1"}})),
            value(scope_of({cookie("v")}, {{"Cookie", "v=1"}})));
  EXPECT_THAT(refusal(scope_of(both, {{"X-A", "a"}})), StartsWith("scope-undefined: "));
  // The order in the file, and a part named twice, mean nothing.
  EXPECT_EQ(of("a", "b"),
            value(scope_of({header("X-B"), header("X-A"), header("x-b")}, {{"X-A", "a"}, {"X-B", "b"}})));
}

TEST(StatedScope, none_is_one_scope_on_purpose) {
  const auto scope = scope_of({{Kind::none, ""}}, {{"Cookie", "a=b"}, {"Authorization", "x"}});
  EXPECT_EQ(value(scope), value(scope_of({{Kind::none, ""}}, {})));
  EXPECT_FALSE(scope->shared);
  EXPECT_NE(value(scope), value(scope_of({}, {})));
}

TEST(StatedScope, takes_the_principal_that_was_handed_in) {
  const std::vector<ScopePart> auth{{Kind::auth, ""}};
  config::Route route;
  EXPECT_FALSE(needs_principal(route));
  route.scope = auth;
  EXPECT_TRUE(needs_principal(route));
  EXPECT_EQ(value(scope_of(auth, {}, "alice")), value(scope_of(auth, {{"Authorization", "other"}}, "alice")));
  EXPECT_NE(value(scope_of(auth, {}, "alice")), value(scope_of(auth, {}, "bob")));
  EXPECT_THAT(refusal(scope_of(auth, {}, "")),
              AllOf(StartsWith("scope-undefined: "), HasSubstr("X-Principal")));
  EXPECT_THAT(refusal(scope_of(auth, {})), StartsWith("auth-unavailable: "));
}

TEST(StatedScope, does_not_pretend_to_know_client_certificates) {
  EXPECT_THAT(refusal(scope_of({{Kind::client_cert, ""}}, {})),
              AllOf(StartsWith("scope-undefined: "), HasSubstr("scope = [\"header:")));
}

TEST(NaturalKeys, need_an_explicit_scope) {
  config::Route route;
  route.key_from.kind = config::KeySource::Kind::path;
  const auto head = request("PUT", "/orders/42", {{"Authorization", "Basic x"}});
  EXPECT_THAT(refusal(find_scope({}, route, head, kNow, {})),
              AllOf(StartsWith("scope-undefined: "), HasSubstr("key_from")));
  route.scope = {{Kind::credentials, ""}};
  EXPECT_TRUE(find_scope({}, route, head, kNow, {}));
}

TEST(ScopeRule, finds_the_same_scope_again) {
  const std::vector<std::vector<ScopePart>> rules{{},
                                                  {{Kind::credentials, ""}},
                                                  {header("X-Account"), cookie("sid")},
                                                  {{Kind::none, ""}},
                                                  {{Kind::auth, ""}, header("X-Account")}};
  for (const auto& parts : rules) {
    const FieldList list =
        parts.empty() ? FieldList{{"Authorization", "Basic x"}}
                      : FieldList{{"Authorization", "Basic x"}, {"X-Account", "a"}, {"Cookie", "sid=1"}};
    const auto first = scope_of(parts, list, "alice");
    ASSERT_TRUE(first) << value(first);
    const auto found = find_scope_by_rule({}, first->rule, request("GET", "/", list), kNow, "alice");
    EXPECT_EQ(value(found), first->value) << first->rule;
    EXPECT_EQ(found->rule, first->rule);
  }
  EXPECT_TRUE(rule_needs_principal("header:x-account auth"));
  EXPECT_FALSE(rule_needs_principal("header:auth"));
  EXPECT_FALSE(rule_needs_principal("default"));
}

TEST(ScopeRule, survives_odd_names) {
  const std::vector<ScopePart> parts{{Kind::jwt, "https://example.com/claims tenant:%"}};
  const auto text = rule_text(parts);
  EXPECT_EQ(text, "jwt:https://example.com/claims%20tenant:%25");
  const auto read = parse_rule(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(rule_text(*read), text);
  EXPECT_EQ(read->front().name, parts.front().name);
}

TEST(ScopeRule, refuses_what_this_build_does_not_know) {
  for (const char* rule : {"", " ", "defaults", "header", "header:", "none:x", "none ", "  none", "future:x",
                           "header:%zz", "default none"}) {
    EXPECT_THAT(refusal(find_scope_by_rule({}, rule, request("GET", "/"), kNow, {})),
                StartsWith("scope-undefined: "))
        << rule;
  }
}

}  // namespace
}  // namespace stet::identify
