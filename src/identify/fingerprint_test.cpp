#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/digest.hpp"
#include "identify/identify.hpp"
#include "identify/recipe.hpp"
#include "identify/request_for_test.hpp"

namespace stet::identify {
namespace {

using config::FingerprintSettings;

struct Request {
  std::string method = "POST";
  std::string target = "/charges?x=1";
  std::vector<std::pair<const char*, std::string>> list = {{"Content-Type", "application/json"}};
  std::string body = R"({"amount":100,"to":"alice"})";
};

Fingerprint print(const Request& request, const FingerprintSettings& settings = {}) {
  const auto lines = fields(request.list);
  return make_fingerprint(settings, {request.method, request.target, lines, request.body});
}
std::optional<Fingerprint> again(const Request& request, const Recipe& recipe,
                                 const FingerprintSettings& settings = {}) {
  const auto lines = fields(request.list);
  return remake_fingerprint(settings, recipe, {request.method, request.target, lines, request.body});
}
Request with_body(std::string body) {
  return {.body = std::move(body)};
}
Request typed(const char* type, std::string body) {
  return {.list = {{"Content-Type", type}}, .body = std::move(body)};
}

TEST(Fingerprint, is_the_same_for_the_same_request) {
  EXPECT_EQ(print({}), print({}));
}

// nensii21/devlink#1195 (another endpoint's answer came back), pathosDev/actor-ts#609 (the query was left
// out).
TEST(Fingerprint, differs_by_method_path_and_query) {
  const auto base = print({});
  EXPECT_NE(base, print({.method = "PATCH"}));
  EXPECT_NE(base, print({.target = "/refunds?x=1"}));
  EXPECT_NE(base, print({.target = "/charges?x=2"}));
  EXPECT_NE(base, print({.target = "/charges"}));
}

// ikyriak/IdempotentAPI#58, #38: the hash of an empty body for everything; large bodies hashed differently
// each time.
TEST(Fingerprint, looks_at_every_byte_of_bodies_of_any_size) {
  EXPECT_NE(print(with_body("")), print(with_body("{}")));
  for (const char* type : {"application/octet-stream", "application/json"}) {
    std::string large(200'000, 'x');
    large.front() = large.back() = '"';
    const auto base = print(typed(type, large));
    EXPECT_EQ(base, print(typed(type, large)));
    for (const std::size_t at : {std::size_t{1}, large.size() / 2, large.size() - 2}) {
      auto other = large;
      other[at] = 'y';
      EXPECT_NE(base, print(typed(type, other)));
    }
  }
}

TEST(Fingerprint, reads_json_by_its_values) {
  EXPECT_EQ(print({}), print(with_body("{ \"to\": \"\\u0061lice\", \"amount\": 1.00e2 }\n")));
  EXPECT_NE(print({}), print(with_body(R"({"amount":100.000000000000000001,"to":"alice"})")));
  EXPECT_NE(print({}), print(with_body(R"({"amount":"100","to":"alice"})")));
  EXPECT_NE(print({}), print(with_body(R"({"amount":100,"to":"mallory"})")));
  EXPECT_NE(print({}), print(with_body(R"({"amount":100})")));
  EXPECT_EQ(print(typed("application/merge-patch+json", "{\"a\":1}")),
            print(typed("application/merge-patch+json", "{\"a\":1.0}")));
}

TEST(Fingerprint, reads_other_bodies_and_what_is_no_json_as_bytes) {
  EXPECT_NE(print(typed("text/plain", "{\"a\":1}")), print(typed("text/plain", "{\"a\":1.0}")));
  EXPECT_NE(print(with_body(R"({"a":1,"a":2})")), print(with_body(R"({"a":1, "a":2})")));
  EXPECT_EQ(print(with_body(R"({"a":1,"a":2})")), print(with_body(R"({"a":1,"a":2})")));
  Request none{.list = {}, .body = "{\"a\":1}"};
  Request spaced{.list = {}, .body = "{\"a\": 1}"};
  EXPECT_NE(print(none), print(spaced));
}

TEST(Fingerprint, never_decodes_a_content_encoding) {
  const auto encoded = [](const char* coding, std::string body) {
    return print({.list = {{"Content-Type", "application/json"}, {"Content-Encoding", coding}},
                  .body = std::move(body)});
  };
  EXPECT_NE(encoded("gzip", "{\"a\":1}"), encoded("gzip", "{\"a\": 1}"));
  EXPECT_NE(encoded("gzip", "x"), encoded("br", "x"));
  EXPECT_NE(encoded("gzip", "{\"a\":1}"), print(with_body("{\"a\":1}")));
}

TEST(Fingerprint, takes_the_content_type_without_parameters_and_case) {
  EXPECT_EQ(print({}), print({.list = {{"content-type", "Application/JSON; charset=utf-8"}}}));
  EXPECT_NE(print(typed("text/plain", "a")), print(typed("text/html", "a")));
  EXPECT_NE(print(typed("text/plain", "a")), print(Request{.list = {}, .body = "a"}));
}

TEST(Fingerprint, leaves_a_request_with_two_content_types_to_its_bytes) {
  const auto twice = [](std::string body) {
    return print({.list = {{"Content-Type", "application/json"}, {"Content-Type", "application/json"}},
                  .body = std::move(body)});
  };
  EXPECT_NE(twice("{\"a\":1}"), twice("{\"a\": 1}"));
  EXPECT_NE(twice("{\"a\":1}"), print(with_body("{\"a\":1}")));
}

TEST(Fingerprint, reads_multipart_by_its_parts) {
  const auto form = [](const std::string& boundary, const std::string& content) {
    return print({.list = {{"Content-Type", "multipart/form-data; boundary=\"" + boundary + "\""}},
                  .body = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n" +
                          content + "\r\n--" + boundary + "--\r\n"});
  };
  EXPECT_EQ(form("one", "1"), form("two", "1"));
  EXPECT_NE(form("one", "1"), form("one", "2"));
  EXPECT_NE(print(typed("multipart/form-data; boundary=c", "--b--")),
            print(typed("multipart/form-data; boundary=c", "--c--")));
}

TEST(Fingerprint, keeps_a_body_apart_from_the_canonical_form_of_another) {
  // This is no JSON and is hashed as bytes that spell the form of 1.
  EXPECT_NE(print(with_body("#1e0;")).digest, print(with_body("1")).digest);
  EXPECT_NE(print(with_body("{1:a#1e0;}")).digest, print(with_body("{\"a\":1}")).digest);
}

TEST(Fingerprint, has_the_named_headers_in_it) {
  const FingerprintSettings settings{{}, {}, {"X-Currency"}, {}};
  const auto of = [&settings](const std::vector<std::pair<const char*, std::string>>& list) {
    return print({.list = list, .body = "x"}, settings);
  };
  EXPECT_EQ(of({{"x-currency", " EUR "}}), of({{"X-Currency", "EUR"}, {"X-Other", "1"}}));
  EXPECT_NE(of({{"X-Currency", "EUR"}}), of({{"X-Currency", "USD"}}));
  EXPECT_NE(of({{"X-Currency", ""}}), of({}));
  EXPECT_NE(of({{"X-Currency", "a"}, {"X-Currency", "b"}}), of({{"X-Currency", "b"}, {"X-Currency", "a"}}));
  EXPECT_NE(of({{"X-Currency", "a"}, {"X-Currency", "b"}}), of({{"X-Currency", "a, b"}}));
  EXPECT_EQ(print({.list = {{"X-Currency", "EUR"}}}), print({.list = {{"X-Currency", "USD"}}}));
}

TEST(Fingerprint, cannot_have_its_borders_moved) {
  EXPECT_NE(print({.method = "P", .target = "OST/"}).digest, print({.method = "POST", .target = "/"}).digest);
  const FingerprintSettings one{{}, {}, {"a"}, {}};
  EXPECT_NE(print({.list = {{"a", "1:b"}}}, one).digest,
            print({.list = {{"a", "1"}, {"a", "b"}}}, one).digest);
}

TEST(Fingerprint, ignores_and_keeps_what_the_route_says) {
  const FingerprintSettings ignore{{"/sent_at"}, {}, {}, {}};
  EXPECT_EQ(print(with_body(R"({"a":1,"sent_at":1})"), ignore),
            print(with_body(R"({"sent_at":2,"a":1})"), ignore));
  EXPECT_NE(print(with_body(R"({"a":1,"sent_at":1})"), ignore),
            print(with_body(R"({"a":2,"sent_at":1})"), ignore));
  const FingerprintSettings only{{}, {"/a"}, {}, {}};
  EXPECT_EQ(print(with_body(R"({"a":1,"b":1})"), only), print(with_body(R"({"a":1,"b":2})"), only));
  EXPECT_NE(print(with_body(R"({"a":1,"b":1})"), only), print(with_body(R"({"a":2,"b":1})"), only));
  // Under different settings nothing is equal by accident: what was left out is not known to be the same.
  EXPECT_NE(print(with_body(R"({"a":1})"), ignore).digest, print(with_body(R"({"a":1})")).digest);
}

// MCPJam/inspector PR4469: a plain hash of a PIN could be guessed offline.
TEST(Fingerprint, is_keyed_when_there_is_a_secret) {
  const FingerprintSettings first{{}, {}, {}, {"first secret"}};
  const FingerprintSettings second{{}, {}, {}, {"second secret"}};
  EXPECT_NE(print({}, first).digest, print({}).digest);
  EXPECT_NE(print({}, first).digest, print({}, second).digest);
  EXPECT_EQ(print({}, first), print({}, first));
  EXPECT_THAT(print({}, first).recipe, testing::Not(testing::HasSubstr("secret")));
}

TEST(Fingerprint, is_made_again_by_a_secret_that_has_been_rotated_out) {
  const auto stored = print({}, {{}, {}, {}, {"old"}});
  EXPECT_EQ(again({}, stored.recipe, {{}, {}, {}, {"new", "old"}}), stored);
  EXPECT_EQ(again({}, stored.recipe, {{}, {}, {}, {"new"}}), std::nullopt);
  EXPECT_EQ(again({}, stored.recipe), std::nullopt);
  // Secrets were introduced after the record was made.
  EXPECT_EQ(again({}, print({}).recipe, {{}, {}, {}, {"new"}}), print({}));
}

TEST(Fingerprint, is_made_again_by_the_settings_that_made_it) {
  const FingerprintSettings old{{"/sent_at", "/a,b c%"}, {}, {"X-Currency"}, {"s"}};
  const Request first{.list = {{"Content-Type", "application/json"}, {"X-Currency", "EUR"}},
                      .body = R"({"a":1,"sent_at":1})"};
  const Request retry{.list = {{"Content-Type", "application/json"}, {"X-Currency", "EUR"}},
                      .body = R"({"a":1,"sent_at":2})"};
  const Request other{.list = {{"Content-Type", "application/json"}, {"X-Currency", "USD"}},
                      .body = R"({"a":1,"sent_at":2})"};
  const auto stored = print(first, old);
  const FingerprintSettings now{{}, {"/a"}, {}, {"t", "s"}};
  EXPECT_EQ(again(retry, stored.recipe, now), stored);
  EXPECT_NE(again(other, stored.recipe, now), stored);
}

// theam/facility PR196: after an upgrade, old hashes matched new requests.
TEST(Recipe, carries_a_version_and_refuses_what_it_does_not_know) {
  EXPECT_EQ(print({}).recipe, "v1");
  for (const char* text : {"", "v2", "v1 ", "v1 x:1", "v1 only", "v1 ignore:/b,/a headers", "v1  ignore:/a",
                           "v1 headers:a ignore:/a", "v1 ignore:%2", "v1 ignore:%2Fa"}) {
    EXPECT_EQ(again({}, text), std::nullopt) << text;
  }
}

TEST(Recipe, reads_back_what_it_wrote) {
  const FingerprintSettings settings{
      {"/b", "/a", "/a", "/with space", "/with,comma", "/100%", "/caf\xc3\xa9", ""},
      {"/x"},
      {"X-B", "X-A"},
      {"s"}};
  const auto recipe = write_recipe(recipe_parts(settings));
  EXPECT_THAT(recipe, testing::MatchesRegex(
                          "v1 hmac:[0-9a-f]{16} only:/x "
                          "ignore:,/100%25,/a,/b,/caf%C3%A9,/with%20space,/with%2Ccomma headers:x-a,x-b"));
  const auto parts = read_recipe(recipe);
  ASSERT_TRUE(parts);
  EXPECT_EQ(write_recipe(*parts), recipe);
  EXPECT_EQ(parts->ignore, recipe_parts(settings).ignore);
}

TEST(Recipe, does_not_depend_on_the_order_of_the_lists) {
  EXPECT_EQ(print({}, {{"/a", "/b"}, {}, {}, {}}), print({}, {{"/b", "/a"}, {}, {}, {}}));
}

// What is stored must be found again after an upgrade: change the version with the algorithm.
TEST(Fingerprint, of_version_1_stays_what_it_is) {
  EXPECT_EQ(to_hex(print({}).digest), "4ecf8de331101ca8141f65725edee007dc224c1b287a8954948a438fbea987c7");
  EXPECT_EQ(to_hex(print({}, {{"/to"}, {}, {"x-a"}, {"secret"}}).digest),
            "4119c7d0daf319a0114898c69895b901293cbb455177afada486d469b4a40263");
}

}  // namespace
}  // namespace stet::identify
