// Answers: bytes in, the same bytes out, once.

#include "stores/conformance/subject.hpp"

namespace stet::stores::conformance {

using namespace std::chrono_literals;

TEST_P(StoreConformance, replays_what_was_recorded) {
  const auto c = claimed("k");
  EXPECT_EQ(run<result::Ok>(command::Complete{token(c), answer(), std::nullopt}).expires_at,
            clocks_.wall() + 24h);
  const result::Replay wanted{answer(), clocks_.wall() + 24h};
  EXPECT_EQ(run<result::Replay>(claim("k")), wanted);
  EXPECT_EQ(run<result::Replay>(c), wanted) << "its own owner, too";
}

// protocol.md, invariant 1: at most one completed answer for a record's lifetime.
TEST_P(StoreConformance, hears_the_same_answer_twice_and_no_other) {
  const auto c = completed("k");
  clocks_.advance(1h);
  EXPECT_EQ(run<result::Ok>(command::Complete{token(c), answer(), std::nullopt}).expires_at,
            clocks_.wall() + 23h);
  run<result::Fenced>(command::Complete{token(c), answer("another"), std::nullopt});
  EXPECT_EQ(run<result::Replay>(claim("k")).answer, answer());
}

// gofiber/fiber PR4693: a replay split header lines at commas.
TEST_P(StoreConformance, keeps_the_order_and_the_repeats_of_headers) {
  Answer a;
  a.status = 200;
  a.headers = {{"Link", "</a>; rel=\"next\", </b>"},
               {"X-B", "2"},
               {"Link", "</c>"},
               {"x-b", ""},
               {"X-A", "1"},
               {"Link", "</a>"}};
  const auto c = claimed("k");
  run<result::Ok>(command::Complete{token(c), a, std::nullopt});
  EXPECT_EQ(run<result::Replay>(claim("k")).answer, a);
}

// langwatch PR6511: a JSON column reordered the members of the answer.
TEST_P(StoreConformance, keeps_bodies_as_bytes) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  const std::vector<std::string> bodies{bytes, "{\"b\":1,\"a\":2,\"b\":1}", "1e400 \xff\xfe",
                                        std::string(1, '\0'), std::string(300'000, 'x') + '\0'};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const auto c = claimed("k" + std::to_string(i));
    run<result::Ok>(command::Complete{token(c), answer(bodies[i]), std::nullopt});
    EXPECT_EQ(run<result::Replay>(claim(c.key)).answer.body, bodies[i]);
    EXPECT_EQ(record(c.key)->answer, answer(bodies[i]));
  }
}

// Sidarthapati PR61, aws-powertools-python#8090: empty answers were not stored, and ran again.
TEST_P(StoreConformance, takes_an_empty_answer_for_an_answer) {
  Answer empty;
  empty.status = 204;
  const auto c = claimed("k");
  run<result::Ok>(command::Complete{token(c), empty, std::nullopt});
  EXPECT_EQ(run<result::Replay>(claim("k")).answer, empty);
}

// mikkelchokolate/Veil#66: answers over the limit skipped the store and ran again.
TEST_P(StoreConformance, remembers_that_only_the_head_of_an_answer_was_kept) {
  Answer head = answer("");
  head.kept = Kept::head_only;
  const auto c = claimed("k");
  run<result::Ok>(command::Complete{token(c), head, std::nullopt});
  EXPECT_EQ(run<result::Replay>(claim("k")).answer, head);
}

TEST_P(StoreConformance, replays_past_the_retention_until_the_sweep_has_come) {
  completed("k");
  clocks_.advance(24h * 30);
  EXPECT_EQ(run<result::Replay>(claim("k")).answer, answer());
  clocks_.step_wall(24h * 365);
  EXPECT_EQ(run<result::Replay>(claim("k")).answer, answer());
}

TEST_P(StoreConformance, takes_the_retention_of_the_completion_before_that_of_the_record) {
  const auto c = claimed("k");
  EXPECT_EQ(run<result::Ok>(command::Complete{token(c), answer(), 1h}).expires_at, clocks_.wall() + 1h);
  EXPECT_EQ(run<result::Replay>(claim("k")).expires_at, clocks_.wall() + 1h);
  const auto d = claimed("for ever");
  EXPECT_EQ(run<result::Ok>(command::Complete{token(d), answer(), kForever}).expires_at, std::nullopt);
  EXPECT_EQ(run<result::Replay>(claim("for ever")).expires_at, std::nullopt);
}

TEST_P(StoreConformance, shows_an_answer_to_nobody_with_another_fingerprint) {
  completed("k");
  auto other = claim("k");
  other.fingerprint = fingerprint('b');
  run<result::Mismatch>(other);
  const auto peeked = store().peek(other);
  EXPECT_TRUE(!peeked || !std::holds_alternative<result::Replay>(*peeked));
}

TEST_P(StoreConformance, peeks_only_at_what_execute_would_say_too) {
  const auto peek = [&](const command::Claim& c) {
    const auto peeked = store().peek(c);
    if (!peeked) return;
    const Store::Outcome executed = outcome(c);
    ASSERT_TRUE(std::holds_alternative<Result>(executed));
    EXPECT_EQ(*peeked, std::get<Result>(executed));
  };
  for (const char* state :
       {"running", "lapsed", "given back", "unknown", "completed", "expired", "taken over"}) {
    SCOPED_TRACE(state);
    bring_to(state, state);
    peek(claim(state));
    peek(claim(state, "another scope"));
    auto other = claim(state);
    other.fingerprint = fingerprint('b');
    peek(other);
  }
  const auto never = claim("never claimed");
  const auto peeked = store().peek(never);
  EXPECT_FALSE(peeked.has_value());
}

}  // namespace stet::stores::conformance
