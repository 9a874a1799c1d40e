// What a crash leaves, for engines that promise to survive one.

#include "stores/conformance/subject.hpp"

namespace stet::stores::conformance {

using namespace std::chrono_literals;

#define SKIP_UNLESS_IT_SURVIVES()                                                                      \
  if (GetParam().restart == Restart::forgets) GTEST_SKIP() << "this engine promises nothing across a " \
                                                              "restart"

TEST_P(StoreConformance, knows_every_record_after_a_crash) {
  SKIP_UNLESS_IT_SURVIVES();
  std::vector<std::optional<Record>> before;
  const std::vector<std::string> states{"running",   "lapsed",  "given back", "unknown",
                                        "completed", "expired", "taken over"};
  for (const auto& at : states) bring_to(at, at);
  for (const auto& at : states) before.push_back(record(at));
  crash_and_reopen();
  for (std::size_t i = 0; i < states.size(); ++i) {
    SCOPED_TRACE(states[i]);
    auto after = record(states[i]);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->token, before[i]->token);
    EXPECT_EQ(after->state, before[i]->state);
    EXPECT_EQ(after->maybe_executed, before[i]->maybe_executed);
    EXPECT_EQ(after->fingerprint, before[i]->fingerprint);
    EXPECT_EQ(after->terms, before[i]->terms);
    EXPECT_EQ(after->answer, before[i]->answer);
    EXPECT_EQ(after->created_at, before[i]->created_at);
    EXPECT_EQ(after->expires_at, before[i]->expires_at);
  }
}

TEST_P(StoreConformance, excludes_every_key_after_a_crash) {
  SKIP_UNLESS_IT_SURVIVES();
  for (int i = 0; i < 200; ++i) completed("k" + std::to_string(i));
  crash_and_reopen();
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(run<result::Replay>(claim("k" + std::to_string(i))).answer, answer());
  completed("another");
  crash_and_reopen();
  run<result::Replay>(claim("another"));
  run<result::Replay>(claim("k199"));
}

TEST_P(StoreConformance, does_not_bring_a_released_key_back_with_a_crash) {
  SKIP_UNLESS_IT_SURVIVES();
  const auto c = claimed("k");
  run<result::Ok>(command::Release{token(c)});
  crash_and_reopen();
  EXPECT_EQ(state("k"), "absent");
  run<result::Claimed>(claim("k"));
}

TEST_P(StoreConformance, goes_on_with_attempts_after_a_crash) {
  SKIP_UNLESS_IT_SURVIVES();
  const auto c = claimed("k");
  run<result::Ok>(command::Advance{token(c), "charged"});
  crash_and_reopen();
  clocks_.advance(kLease);
  const auto lapsed = run<result::Lapsed>(claim("k"));
  const auto granted = run<result::Claimed>(command::TakeOver{lapsed.token, Nonce::random(), kLease});
  EXPECT_EQ(granted.attempt, 2U);
  EXPECT_EQ(granted.recovery_point, "charged");
  EXPECT_TRUE(granted.maybe_executed);
}

TEST_P(StoreConformance, knows_its_own_claim_by_the_nonce_after_a_crash) {
  SKIP_UNLESS_IT_SURVIVES();
  const auto c = claimed("k");
  crash_and_reopen();
  EXPECT_EQ(run<result::Claimed>(c).attempt, 1U);
  run<result::Ok>(command::Complete{token(c), answer(), std::nullopt});
  run<result::Replay>(claim("k"));
}

TEST_P(StoreConformance, goes_on_sweeping_after_a_crash) {
  SKIP_UNLESS_IT_SURVIVES();
  completed("k");
  crash_and_reopen();
  clocks_.advance(24h);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}).expired, 1U);
  crash_and_reopen();
  run<result::Expired>(claim("k"));
  clocks_.advance(48h);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}).removed, 1U);
  crash_and_reopen();
  EXPECT_EQ(state("k"), "absent");
}

}  // namespace stet::stores::conformance
