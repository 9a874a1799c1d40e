// Claims, leases, take-overs: whose operation it is.

#include "stores/conformance/subject.hpp"

namespace stet::stores::conformance {

using namespace std::chrono_literals;

TEST_P(StoreConformance, grants_a_first_claim_with_attempt_one) {
  const auto granted = run<result::Claimed>(claim("k"));
  EXPECT_EQ(granted.attempt, 1U);
  EXPECT_EQ(granted.recovery_point, "");
  EXPECT_FALSE(granted.maybe_executed);
}

// idempot-dev/idempot-js#182: the second claim overwrote the first, and both ran.
TEST_P(StoreConformance, grants_one_of_many_claims_in_one_batch) {
  std::vector<Command> batch;
  for (int i = 0; i < 20; ++i) batch.emplace_back(claim("k"));
  const auto outcomes = store().execute(batch);
  ASSERT_EQ(outcomes.size(), batch.size());
  EXPECT_EQ(describe(outcomes.front()), "claimed");
  for (std::size_t i = 1; i < outcomes.size(); ++i) EXPECT_EQ(describe(outcomes[i]), "in_progress");
}

// idempot-dev/idempot-js#185: the insert was committed, its acknowledgement lost, and the retry saw a
// stranger.
TEST_P(StoreConformance, grants_a_claim_again_to_the_nonce_that_has_it) {
  const auto c = claimed("k");
  EXPECT_EQ(run<result::Claimed>(c).attempt, 1U);
  EXPECT_EQ(run<result::Claimed>(c).attempt, 1U);
}

TEST_P(StoreConformance, starts_the_lease_anew_when_a_claim_is_repeated_by_its_owner) {
  const auto c = claimed("k");
  clocks_.advance(kLease - 1s);
  run<result::Claimed>(c);
  clocks_.advance(kLease - 1s);
  run<result::InProgress>(claim("k"));
}

// xavierjohn/Trellis PR695: a skewed clock gave a Retry-After beyond the lease.
TEST_P(StoreConformance, tells_others_to_wait_no_longer_than_what_is_left_of_the_lease) {
  claimed("k");
  EXPECT_EQ(run<result::InProgress>(claim("k")).retry_after, kLease);
  clocks_.advance(12s);
  EXPECT_EQ(run<result::InProgress>(claim("k")).retry_after, kLease - 12s);
  for (const auto step : {milliseconds(-720h), milliseconds(1440h)}) {
    clocks_.step_wall(step);
    if (step > 0h && GetParam().lease_clock == LeaseClock::wall) {
      run<result::Lapsed>(claim("k"));
      continue;
    }
    const auto wait = run<result::InProgress>(claim("k")).retry_after;
    EXPECT_GT(wait, 0ms);
    EXPECT_LE(wait, kLease);
  }
}

TEST_P(StoreConformance, calls_a_record_lapsed_from_the_moment_the_lease_ends_and_changes_nothing) {
  const auto first = claimed("k");
  clocks_.advance(kLease - 1ms);
  run<result::InProgress>(claim("k"));
  clocks_.advance(1ms);
  const auto lapsed = run<result::Lapsed>(claim("k"));
  EXPECT_EQ(lapsed.token, token(first));
  EXPECT_EQ(lapsed.terms, first.terms);
  EXPECT_FALSE(lapsed.maybe_executed);
  EXPECT_EQ(run<result::Lapsed>(claim("k")), lapsed);
}

TEST_P(StoreConformance, keeps_a_lease_alive_while_its_owner_renews) {
  const auto c = claimed("k");
  for (int i = 0; i < 10; ++i) {
    clocks_.advance(kLease / 3);
    run<result::Ok>(command::Renew{token(c), kLease});
  }
  run<result::InProgress>(claim("k"));
}

TEST_P(StoreConformance, lets_an_owner_renew_late_as_long_as_nobody_took_over) {
  const auto c = claimed("k");
  clocks_.advance(2 * kLease);
  run<result::Ok>(command::Renew{token(c), kLease});
  EXPECT_EQ(run<result::InProgress>(claim("k")).retry_after, kLease);
}

TEST_P(StoreConformance, gives_a_lapsed_record_to_one_taker_with_the_next_attempt) {
  const auto first = claimed("k");
  clocks_.advance(kLease);
  const auto seen = run<result::Lapsed>(claim("k")).token;
  const command::TakeOver winner{seen, Nonce::random(), kLease};
  const command::TakeOver loser{seen, Nonce::random(), kLease};
  const auto granted = run<result::Claimed>(winner);
  EXPECT_EQ(granted.attempt, 2U);
  EXPECT_TRUE(granted.maybe_executed) << "nobody knows how the attempt before ended";
  run<result::Fenced>(loser);
  run<result::Fenced>(command::Renew{token(first), kLease});
  run<result::Fenced>(command::Complete{token(first), answer(), std::nullopt});
  EXPECT_EQ(record("k")->token, (Token{"scope", "k", winner.nonce, 2}));
}

TEST_P(StoreConformance, grants_a_take_over_again_when_its_reply_was_lost) {
  claimed("k");
  clocks_.advance(kLease);
  const command::TakeOver taking{run<result::Lapsed>(claim("k")).token, Nonce::random(), kLease};
  EXPECT_EQ(run<result::Claimed>(taking).attempt, 2U);
  EXPECT_EQ(run<result::Claimed>(taking).attempt, 2U);
}

TEST_P(StoreConformance, counts_attempts_up_as_long_as_the_record_lives) {
  command::Claim c = claimed("k");
  for (std::uint32_t attempt = 2; attempt <= 5; ++attempt) {
    clocks_.advance(kLease);
    const auto seen = run<result::Lapsed>(claim("k")).token;
    EXPECT_EQ(run<result::Claimed>(command::TakeOver{seen, Nonce::random(), kLease}).attempt, attempt);
  }
}

TEST_P(StoreConformance, keeps_a_given_back_record_pending_with_its_lease_over) {
  const auto c = claimed("k");
  run<result::Ok>(command::GiveBack{token(c)});
  run<result::Ok>(command::GiveBack{token(c)});
  const auto lapsed = run<result::Lapsed>(claim("k"));
  EXPECT_EQ(lapsed.token, token(c));
  EXPECT_TRUE(lapsed.maybe_executed);
}

TEST_P(StoreConformance, frees_the_key_when_the_only_attempt_did_nothing) {
  const auto c = claimed("k");
  run<result::Ok>(command::Release{token(c)});
  EXPECT_EQ(state("k"), "absent");
  run<result::Fenced>(command::Release{token(c)});
  auto other = claim("k");
  other.fingerprint = fingerprint('b');
  EXPECT_EQ(run<result::Claimed>(other).attempt, 1U);
}

TEST_P(StoreConformance, keeps_the_key_when_an_earlier_attempt_may_have_run) {
  const auto c = claimed("k");
  run<result::Ok>(command::GiveBack{token(c)});
  const command::TakeOver second{token(c), Nonce::random(), kLease};
  EXPECT_TRUE(run<result::Claimed>(second).maybe_executed);
  run<result::Ok>(command::Release{Token{"scope", "k", second.nonce, 2}});
  EXPECT_TRUE(run<result::Lapsed>(claim("k")).maybe_executed);
}

TEST_P(StoreConformance, hands_the_recovery_point_to_the_next_attempt) {
  const auto c = claimed("k");
  run<result::Ok>(command::Advance{token(c), "charged"});
  run<result::Ok>(command::Advance{token(c), "charged"});
  EXPECT_EQ(run<result::Claimed>(c).recovery_point, "charged");
  clocks_.advance(kLease);
  const command::TakeOver next{token(c), Nonce::random(), kLease};
  EXPECT_EQ(run<result::Claimed>(next).recovery_point, "charged");
  run<result::Fenced>(command::Advance{token(c), "mailed"});
}

// Another fingerprint is told so whatever the record is doing (docs/protocol.md): it must learn neither that
// a lease is over nor that the outcome is unknown, and never take over.
TEST_P(StoreConformance, says_mismatch_with_what_was_stored) {
  auto other = claim("k");
  other.fingerprint = fingerprint('b');
  other.method = "PUT";
  other.path = "/refunds";
  const auto first = claimed("k");
  const result::Mismatch pending{State::pending, first.fingerprint, "POST", "/charges"};
  EXPECT_EQ(run<result::Mismatch>(other), pending);
  clocks_.advance(kLease);
  EXPECT_EQ(run<result::Mismatch>(other), pending);
  run<result::Ok>(command::SettleUnknown{token(first)});
  EXPECT_EQ(run<result::Mismatch>(other).state, State::unknown);
  run<result::Ok>(command::Complete{token(first), answer(), std::nullopt});
  EXPECT_EQ(run<result::Mismatch>(other).state, State::completed);
}

TEST_P(StoreConformance, takes_the_recipe_for_part_of_the_fingerprint) {
  claimed("k");
  auto other = claim("k");
  other.fingerprint.recipe = "v2 json";
  EXPECT_EQ(run<result::Mismatch>(other).stored.recipe, "v1 json");
}

TEST_P(StoreConformance, goes_by_the_terms_of_the_first_claim) {
  const auto first = claimed("k");
  auto second = claim("k");
  second.terms.on_unknown = OnUnknown::retry;
  second.terms.retention = 1h;
  second.terms.scope_rule = "none";
  clocks_.advance(kLease);
  EXPECT_EQ(run<result::Lapsed>(second).terms, first.terms);
  EXPECT_EQ(record("k")->terms, first.terms);
}

}  // namespace stet::stores::conformance
