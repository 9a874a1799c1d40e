// Which operations are the same: scope and key, byte for byte.

#include <set>

#include "stores/conformance/subject.hpp"

namespace stet::stores::conformance {

TEST_P(StoreConformance, takes_keys_that_differ_in_any_byte_for_different_operations) {
  const std::string lengthy(255, 'k');
  const std::vector<std::string> keys{"a",
                                      "A",
                                      "a ",
                                      " a",
                                      "",
                                      "a\n",
                                      "\xc3\xa9",
                                      "e\xcc\x81",
                                      "\xe9",
                                      lengthy + "1",
                                      lengthy + "2",
                                      lengthy,
                                      std::string("a\0b", 3),
                                      std::string("a\0c", 3),
                                      std::string("a\0", 2),
                                      "1",
                                      "01",
                                      "1.0",
                                      "'; DROP TABLE claims; --",
                                      "%",
                                      "_"};
  for (const std::string& key : keys) EXPECT_EQ(run<result::Claimed>(claim(key)).attempt, 1U) << key;
  for (const std::string& key : keys) {
    const auto c = claim(key);
    EXPECT_GT(run<result::InProgress>(c).retry_after.count(), 0) << key;
    ASSERT_TRUE(record(key)) << key;
    EXPECT_EQ(record(key)->token.key, key);
  }
}

// jox-sm/deepslate-rpg#104: a second user got the first one's answer.
TEST_P(StoreConformance, keeps_scopes_apart) {
  const auto c = claim("k", "alice");
  run<result::Claimed>(c);
  run<result::Ok>(command::Complete{token(c), answer("of alice"), std::nullopt});
  const auto d = claim("k", "bob");
  run<result::Claimed>(d);
  run<result::Ok>(command::Complete{token(d), answer("of bob"), std::nullopt});
  EXPECT_EQ(run<result::Replay>(claim("k", "alice")).answer, answer("of alice"));
  EXPECT_EQ(run<result::Replay>(claim("k", "bob")).answer, answer("of bob"));
}

TEST_P(StoreConformance, does_not_confuse_where_the_scope_ends_and_the_key_begins) {
  const std::vector<std::pair<std::string, std::string>> places{{"ab", "c"},
                                                                {"a", "bc"},
                                                                {"abc", ""},
                                                                {"", "abc"},
                                                                {std::string("a\0", 2), "bc"},
                                                                {"a", std::string("\0bc", 3)}};
  for (const auto& [scope, key] : places) run<result::Claimed>(claim(key, scope));
  for (const auto& [scope, key] : places) {
    run<result::InProgress>(claim(key, scope));
    EXPECT_EQ(record(key, scope)->token.scope, scope);
  }
}

TEST_P(StoreConformance, keeps_every_field_of_a_claim) {
  auto c = claim("k");
  c.method = "PATCH";
  c.path = std::string("/x/%00/\xff\0y", 11);
  c.fingerprint.recipe = "v1 json ignore=/a only=/b";
  c.terms = {"jwt:sub", OnUnknown::ask, kForever, milliseconds(0)};
  run<result::Claimed>(c);
  const auto found = record("k");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->token, token(c));
  EXPECT_EQ(found->fingerprint, c.fingerprint);
  EXPECT_EQ(found->method, c.method);
  EXPECT_EQ(found->path, c.path);
  EXPECT_EQ(found->terms, c.terms);
  EXPECT_EQ(found->state, State::pending);
  EXPECT_EQ(found->created_at, clocks_.wall());
  EXPECT_EQ(found->lease_until, clocks_.wall() + kLease);
  EXPECT_EQ(found->expires_at, std::nullopt);
  EXPECT_EQ(found->answer, std::nullopt);
  EXPECT_FALSE(found->maybe_executed);
}

TEST_P(StoreConformance, holds_many_keys_at_once) {
  std::vector<Command> batch;
  for (int i = 0; i < 5000; ++i) batch.emplace_back(claim("key " + std::to_string(i)));
  for (const auto& outcome : store().execute(batch)) EXPECT_EQ(describe(outcome), "claimed");
  for (int i = 0; i < 5000; i += 2) {
    const auto& c = std::get<command::Claim>(batch[static_cast<std::size_t>(i)]);
    run<result::Ok>(command::Release{token(c)});
  }
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(describe(outcome(claim("key " + std::to_string(i)))), i % 2 == 0 ? "claimed" : "in_progress");
  }
}

}  // namespace stet::stores::conformance
