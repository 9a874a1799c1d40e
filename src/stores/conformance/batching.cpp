// A batch is one unit, in order.

#include "stores/conformance/subject.hpp"

namespace stet::stores::conformance {

using namespace std::chrono_literals;

TEST_P(StoreConformance, answers_an_empty_batch_with_nothing) {
  EXPECT_TRUE(store().execute({}).empty());
}

TEST_P(StoreConformance, lets_later_commands_of_a_batch_see_the_earlier_ones) {
  const auto c = claim("k");
  const std::vector<Command> batch{c,
                                   claim("k"),
                                   command::Renew{token(c), kLease},
                                   command::Complete{token(c), answer(), std::nullopt},
                                   claim("k"),
                                   command::Release{token(c)}};
  const auto outcomes = store().execute(batch);
  const std::vector<std::string> wanted{"claimed", "in_progress", "ok", "ok", "replay", "fenced"};
  ASSERT_EQ(outcomes.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(describe(outcomes[i]), wanted[i]) << i;
  EXPECT_EQ(std::get<result::Replay>(std::get<Result>(outcomes[4])).answer, answer());
}

TEST_P(StoreConformance, can_claim_release_and_claim_again_in_one_batch) {
  const auto first = claim("k");
  const auto second = claim("k");
  const std::vector<Command> batch{first, command::Release{token(first)}, second,
                                   command::GiveBack{token(second)}};
  for (const auto& outcome : store().execute(batch)) EXPECT_NE(describe(outcome), "fenced");
  EXPECT_EQ(record("k")->token, token(second));
}

TEST_P(StoreConformance, sweeps_and_claims_anew_in_one_batch) {
  auto c = claim("k");
  c.terms.tombstone = 0ms;
  run<result::Claimed>(c);
  run<result::Ok>(command::Complete{token(c), answer("old"), std::nullopt});
  run<result::Replay>(claim("k"));
  clocks_.advance(24h);
  const auto anew = claim("k");
  const std::vector<Command> batch{command::Sweep{}, anew,
                                   command::Complete{token(anew), answer("new"), std::nullopt}};
  const auto outcomes = store().execute(batch);
  EXPECT_EQ(std::get<result::Swept>(std::get<Result>(outcomes[0])).expired, 1U);
  EXPECT_EQ(describe(outcomes[1]), "claimed");
  EXPECT_EQ(run<result::Replay>(claim("k")).answer, answer("new"));
  const auto peeked = store().peek(claim("k"));
  if (peeked) EXPECT_EQ(std::get<result::Replay>(*peeked).answer, answer("new"));
}

TEST_P(StoreConformance, answers_each_command_of_a_mixed_batch_in_its_own_place) {
  const auto done = completed("done");
  const auto lost = unknown("lost");
  const auto running = claimed("running");
  const auto fresh = claim("fresh");
  auto other = claim("done");
  other.fingerprint = fingerprint('b');
  const std::vector<Command> batch{claim("done"),
                                   claim("lost"),
                                   claim("running"),
                                   fresh,
                                   other,
                                   command::Complete{token(done), answer("late"), std::nullopt},
                                   command::Sweep{},
                                   command::SettleUnknown{token(running)}};
  const std::vector<std::string> wanted{"replay",   "unknown", "in_progress", "claimed",
                                        "mismatch", "fenced",  "swept",       "ok"};
  const auto outcomes = store().execute(batch);
  ASSERT_EQ(outcomes.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(describe(outcomes[i]), wanted[i]) << i;
}

}  // namespace stet::stores::conformance
