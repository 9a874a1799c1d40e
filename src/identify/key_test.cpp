#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "identify/identify.hpp"
#include "identify/request_for_test.hpp"

namespace stet::identify {
namespace {

using config::KeySource;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using Found = std::variant<Key, NoKey, Refusal>;

config::Route required_route() {
  config::Route route;
  route.name = "POST /charges";
  route.key = config::KeyMode::required;
  return route;
}

config::Route natural_route(std::string name, KeySource source) {
  config::Route route;
  route.name = std::move(name);
  route.key_from = std::move(source);
  return route;
}
config::Route json_route(const std::string& pointer = "/invoice_number") {
  return natural_route("POST /invoices", {KeySource::Kind::json, pointer, 0, {}, "json:" + pointer});
}
config::Route path_route(std::size_t segment, std::string name = "PUT /orders/*") {
  return natural_route(std::move(name),
                       {KeySource::Kind::path, {}, segment, {}, "path:" + std::to_string(segment)});
}
config::Route query_route() {
  return natural_route("POST /transfers", {KeySource::Kind::query, {}, 0, "ref", "query:ref"});
}

std::string value(const Found& found) {
  if (const auto* key = std::get_if<Key>(&found)) return key->value;
  if (const auto* refusal = std::get_if<Refusal>(&found)) return "(refused: " + refusal->detail + ")";
  return "(none)";
}
std::string spelling(const Found& found) {
  const auto* key = std::get_if<Key>(&found);
  return key != nullptr ? key->spelling : "(none)";
}
// "key-invalid: why", or what was accepted.
std::string refusal(const Found& found) {
  const auto* refused = std::get_if<Refusal>(&found);
  return refused != nullptr ? std::string(name(refused->problem)) + ": " + refused->detail : value(found);
}

Found header(const config::Route& route, FieldList list) {
  return find_key(route, request("POST", "/charges", list), "");
}
Found body(const config::Route& route, std::string_view text, FieldList list = {}) {
  return find_key(route, request("POST", "/invoices", list), text);
}
Found target(const config::Route& route, const std::string& text) {
  return find_key(route, request("PUT", text), "");
}

TEST(Key, is_the_same_in_either_form_and_any_case_of_the_field_name) {
  EXPECT_EQ(value(header({}, {{"Idempotency-Key", "abc"}})), "abc");
  EXPECT_EQ(value(header({}, {{"idempotency-key", "\"abc\";v=1"}})), "abc");
}

TEST(Key, may_be_absent_where_it_is_optional_and_not_where_it_is_required) {
  EXPECT_TRUE(std::holds_alternative<NoKey>(header({}, {})));
  EXPECT_THAT(refusal(header(required_route(), {})),
              AllOf(StartsWith("key-missing: "), HasSubstr("Idempotency-Key"), HasSubstr("UUID")));
}

TEST(Key, that_is_empty_is_invalid_and_not_absent) {
  EXPECT_THAT(refusal(header({}, {{"Idempotency-Key", ""}})),
              StartsWith("key-invalid: In Idempotency-Key the key is empty"));
}

// mercadopago/sdk-php PR558: an SDK sent the header twice.
TEST(Key, in_two_lines_is_invalid_even_when_they_agree) {
  for (const char* second : {"b", "a"}) {
    EXPECT_THAT(refusal(header({}, {{"Idempotency-Key", "a"}, {"idempotency-key", second}})),
                AllOf(StartsWith("key-invalid: "), HasSubstr("more than one line")));
  }
}

TEST(Key, is_taken_from_the_first_configured_header_that_is_there) {
  auto route = required_route();
  route.key_headers = {"Idempotency-Key", "X-Request-Key"};
  EXPECT_EQ(value(header(route, {{"x-request-key", "abc"}})), "abc");
  EXPECT_EQ(value(header(route, {{"X-Request-Key", "b"}, {"Idempotency-Key", "a"}})), "a");
  EXPECT_THAT(refusal(header(route, {})), HasSubstr("Idempotency-Key or X-Request-Key"));
  EXPECT_THAT(refusal(header(route, {{"X-Request-Key", "a"}, {"Idempotency-Key", ""}})),
              StartsWith("key-invalid: In Idempotency-Key the key is empty"));
  route.key_headers = {"Idempotency-Key", "IDEMPOTENCY-KEY"};
  EXPECT_EQ(value(header(route, {{"Idempotency-Key", "abc"}})), "abc");
}

TEST(Key, goes_upstream_in_one_spelling) {
  config::Route route;
  EXPECT_EQ(spelling(header(route, {{"Idempotency-Key", "\"abc\";v=1"}})), "abc");
  EXPECT_EQ(spelling(header(route, {{"Idempotency-Key", "\"a b\""}})), "\"a b\"");
  route.key_spelling = config::KeySpelling::quoted;
  EXPECT_EQ(spelling(header(route, {{"Idempotency-Key", "abc"}})), "\"abc\"");
  EXPECT_EQ(spelling(header(route, {{"Idempotency-Key", R"("a\"\\")"}})), R"("a\"\\")");
  route.key_spelling = config::KeySpelling::as_is;
  EXPECT_EQ(spelling(header(route, {{"Idempotency-Key", " \"abc\";v=1 "}})), "\"abc\";v=1");
  EXPECT_EQ(spelling(header(route, {{"Idempotency-Key", "abc"}})), "abc");
}

TEST(Key, is_not_looked_for_where_the_route_says_off) {
  config::Route route;
  route.key = config::KeyMode::off;
  EXPECT_TRUE(
      std::holds_alternative<NoKey>(header(route, {{"Idempotency-Key", "a"}, {"Idempotency-Key", "b"}})));
}

TEST(NaturalKey, comes_from_a_json_member) {
  EXPECT_EQ(value(body(json_route(), R"({"invoice_number":"R-7"})")),
            "natural|POST%20/invoices|json:/invoice_number|R-7");
  EXPECT_EQ(value(body(json_route("/a~1b/1"), R"({"a/b":[0,"x"]})")),
            "natural|POST%20/invoices|json:/a~1b/1|x");
}

TEST(NaturalKey, takes_an_integer_by_its_exact_value) {
  const auto of = [](const char* number) {
    return value(body(json_route(), std::string("{\"invoice_number\":") + number + "}"));
  };
  EXPECT_THAT(of("42"), testing::EndsWith("|42"));
  for (const char* same : {"42.0", "4.2e1", "420e-1"}) EXPECT_EQ(of(same), of("42")) << same;
  EXPECT_EQ(of("\"42\""), of("42"));
  EXPECT_EQ(of("-0"), of("0"));
  EXPECT_NE(of("-42"), of("42"));
  EXPECT_NE(of("9007199254740992"), of("9007199254740993"));
  EXPECT_NE(of("1e400"), of("1e401"));
  EXPECT_EQ(of("1e400"), of("10e399"));
  EXPECT_THAT(of("1e400"), testing::EndsWith("|1e400"));
}

TEST(NaturalKey, is_missing_where_there_is_none) {
  for (const char* text : {"{}", R"({"invoice_number":null})", "[]", "7", "", "{",
                           R"({"invoice_number":1,"invoice_number":2})"}) {
    EXPECT_THAT(refusal(body(json_route(), text)), StartsWith("key-missing: ")) << text;
  }
  EXPECT_THAT(refusal(body(json_route(), R"({"invoice_number":"R-7"})", {{"Content-Encoding", "gzip"}})),
              StartsWith("key-missing: "));
}

TEST(NaturalKey, is_invalid_where_it_cannot_be_one) {
  for (const char* text : {"4.2", "1e-3", "true", "{}", "[1]", "\"\"", "1e9999999999"}) {
    const auto found = refusal(body(json_route(), std::string("{\"invoice_number\":") + text + "}"));
    // The last one is no JSON for us at all.
    EXPECT_THAT(found, AllOf(StartsWith("key-"), HasSubstr("/invoice_number"))) << text;
  }
  EXPECT_THAT(refusal(body(json_route(), R"({"invoice_number":4.2})")), StartsWith("key-invalid: "));
  EXPECT_THAT(refusal(body(json_route(), R"({"invoice_number":""})")), StartsWith("key-invalid: "));
}

TEST(NaturalKey, ignores_the_key_header_altogether) {
  EXPECT_EQ(value(body(json_route(), R"({"invoice_number":"R-7"})",
                       {{"Idempotency-Key", "a b"}, {"Idempotency-Key", "c"}})),
            value(body(json_route(), R"({"invoice_number":"R-7"})")));
  EXPECT_THAT(refusal(body(json_route(), "{}", {{"Idempotency-Key", "abc"}})), StartsWith("key-missing: "));
}

TEST(NaturalKey, comes_from_a_path_segment_counted_from_one) {
  EXPECT_EQ(value(target(path_route(2), "/orders/42?x=1")), "natural|PUT%20/orders/*|path:2|/orders/42");
  EXPECT_EQ(value(target(path_route(2), "/orders/%34%32")), value(target(path_route(2), "/orders/42")));
  EXPECT_THAT(refusal(target(path_route(3), "/orders/42")), StartsWith("key-missing: "));
  EXPECT_THAT(refusal(target(path_route(3), "/orders/42/")), StartsWith("key-missing: "));
  EXPECT_THAT(refusal(target(path_route(1), "/")), StartsWith("key-missing: "));
  EXPECT_THAT(refusal(target(path_route(2), "/orders/%zz")), StartsWith("key-invalid: "));
}

TEST(NaturalKey, is_a_namespace_for_each_route_and_source) {
  EXPECT_NE(value(target(path_route(2), "/orders/42")),
            value(target(path_route(2, "PUT /users/*"), "/users/42")));
  EXPECT_NE(value(target(path_route(2, "PUT /*/*"), "/orders/42")),
            value(target(path_route(2, "PUT /*/*"), "/users/42")));
  EXPECT_NE(value(body(json_route("/a"), R"({"a":"1","b":"1"})")),
            value(body(json_route("/b"), R"({"a":"1","b":"1"})")));
  // Neither names nor values can move a border.
  EXPECT_NE(value(target(path_route(1, "PUT /a|path:1"), "/x")),
            value(target(path_route(1, "PUT /a"), "/x")));
  EXPECT_NE(value(body(json_route("/a|b"), R"({"a|b":"c"})")),
            value(body(json_route("/a"), R"({"a":"b|c"})")));
}

TEST(NaturalKey, comes_from_a_query_parameter) {
  EXPECT_EQ(value(target(query_route(), "/transfers?a=1&ref=R%207")),
            "natural|POST%20/transfers|query:ref|R 7");
  EXPECT_EQ(spelling(target(query_route(), "/transfers?ref=R%207")),
            "\"natural|POST%20/transfers|query:ref|R 7\"");
  EXPECT_EQ(spelling(target(query_route(), "/transfers?ref=R7")), "natural|POST%20/transfers|query:ref|R7");
  EXPECT_THAT(refusal(target(query_route(), "/transfers?Ref=7")), StartsWith("key-missing: "));
  EXPECT_THAT(refusal(target(query_route(), "/transfers")), StartsWith("key-missing: "));
  EXPECT_THAT(refusal(target(query_route(), "/transfers?ref=")), StartsWith("key-invalid: "));
  EXPECT_THAT(refusal(target(query_route(), "/transfers?ref=1&ref=1")), StartsWith("key-invalid: "));
  EXPECT_THAT(refusal(target(query_route(), "/transfers?ref=%f")), StartsWith("key-invalid: "));
}

TEST(NaturalKey, is_hashed_when_it_is_long_or_not_ascii) {
  const auto of = [](const std::string& text) {
    return value(body(json_route(), "{\"invoice_number\":\"" + text + "\"}"));
  };
  const std::string prefix = "natural|POST%20/invoices|json:/invoice_number|";
  EXPECT_EQ(of(std::string(255 - prefix.size(), 'x')), prefix + std::string(255 - prefix.size(), 'x'));
  for (const std::string& text :
       {std::string(300, 'x'), std::string("caf\xc3\xa9"), std::string("a\\nb"), std::string("sha256:00")}) {
    EXPECT_THAT(of(text), StartsWith(prefix + "sha256:")) << text;
    EXPECT_EQ(of(text).size(), prefix.size() + 7 + 64);
  }
  EXPECT_NE(of(std::string(300, 'x')), of(std::string(301, 'x')));
  EXPECT_EQ(of("caf\xc3\xa9"), of("caf\\u00e9"));
  auto long_name = json_route();
  long_name.name = std::string(300, 'r');
  EXPECT_LE(value(body(long_name, R"({"invoice_number":"R-7"})")).size(), 255u);
}

TEST(NaturalKey, never_meets_a_key_from_a_header) {
  const auto natural = value(body(json_route(), R"({"invoice_number":"R-7"})"));
  const auto forged = header({}, {{"Idempotency-Key", natural}});
  EXPECT_EQ(value(forged), "header|" + natural);
  EXPECT_EQ(spelling(forged), natural);
  // What stands in for it cannot be forged either, whatever its length.
  EXPECT_EQ(value(header({}, {{"Idempotency-Key", "header|" + natural}})), "header|header|" + natural);
  const std::string longest = "natural|" + std::string(247, 'x');
  const auto moved = value(header({}, {{"Idempotency-Key", longest}}));
  EXPECT_THAT(moved, StartsWith("header|sha256:"));
  EXPECT_NE(value(header({}, {{"Idempotency-Key", moved}})), moved);
  EXPECT_EQ(value(header({}, {{"Idempotency-Key", "naturally"}})), "naturally");
}

TEST(UpstreamKey, is_the_clients_spelling_made_again_from_what_is_stored) {
  for (const char* key : {"abc", "\"a b\"", "natural|x", "header|natural|x"}) {
    const auto found = header({}, {{"Idempotency-Key", key}});
    EXPECT_EQ(upstream_key(value(found), config::KeySpelling::bare), spelling(found)) << key;
  }
  EXPECT_EQ(upstream_key("abc", config::KeySpelling::quoted), "\"abc\"");
  const auto natural = body(json_route(), R"({"invoice_number":"R-7"})");
  EXPECT_EQ(upstream_key(value(natural), config::KeySpelling::bare), spelling(natural));
}

}  // namespace
}  // namespace stet::identify
