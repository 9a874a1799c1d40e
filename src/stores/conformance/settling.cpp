// Unknown outcomes, late truths and operators.

#include "stores/conformance/subject.hpp"

namespace stet::stores::conformance {

using namespace std::chrono_literals;

TEST_P(StoreConformance, keeps_the_token_when_the_outcome_becomes_unknown) {
  const auto c = unknown("k");
  run<result::Ok>(command::SettleUnknown{token(c)});
  const auto seen = run<result::Unknown>(claim("k"));
  EXPECT_EQ(seen.token, token(c));
  EXPECT_EQ(seen.terms, c.terms);
}

TEST_P(StoreConformance, lets_the_late_truth_of_the_owner_win_over_unknown) {
  const auto c = unknown("k");
  run<result::Ok>(command::Complete{token(c), answer("late"), std::nullopt});
  EXPECT_EQ(run<result::Replay>(claim("k")).answer, answer("late"));
}

TEST_P(StoreConformance, settles_a_lapsed_record_as_unknown_for_whoever_saw_it) {
  claimed("k");
  clocks_.advance(kLease);
  run<result::Ok>(command::SettleUnknown{run<result::Lapsed>(claim("k")).token});
  run<result::Unknown>(claim("k"));
}

TEST_P(StoreConformance, never_ends_an_unknown_record_by_itself) {
  unknown("k");
  claimed("pending");
  clocks_.advance(24h * 365);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}), result::Swept{});
  run<result::Unknown>(claim("k"));
  run<result::Lapsed>(claim("pending"));
}

TEST_P(StoreConformance, fences_the_late_owner_once_an_operator_has_settled) {
  const auto c = unknown("k");
  const command::Settle settle{token(c), Nonce::random(), answer("by hand")};
  EXPECT_EQ(run<result::Ok>(settle).expires_at, clocks_.wall() + 24h);
  EXPECT_EQ(run<result::Ok>(settle).expires_at, clocks_.wall() + 24h) << "the reply was lost";
  run<result::Fenced>(command::Complete{token(c), answer("late"), std::nullopt});
  run<result::Fenced>(command::Settle{token(c), Nonce::random(), answer("another operator")});
  EXPECT_EQ(run<result::Replay>(claim("k")).answer, answer("by hand"));
  EXPECT_EQ(record("k")->token.nonce, settle.nonce);
}

TEST_P(StoreConformance, frees_the_key_when_an_operator_releases) {
  const auto c = claimed("k");
  run<result::Ok>(command::GiveBack{token(c)});
  run<result::Ok>(command::Settle{token(c), Nonce::random(), std::nullopt});
  EXPECT_EQ(state("k"), "absent");
  run<result::Fenced>(command::Complete{token(c), answer(), std::nullopt});
  EXPECT_EQ(run<result::Claimed>(claim("k")).attempt, 1U);
}

TEST_P(StoreConformance, does_not_let_an_operator_settle_what_still_runs) {
  const auto c = claimed("k");
  run<result::Fenced>(command::Settle{token(c), Nonce::random(), answer()});
  run<result::Fenced>(command::Settle{token(c), Nonce::random(), std::nullopt});
  run<result::InProgress>(claim("k"));
}

TEST_P(StoreConformance, does_not_let_an_operator_settle_what_has_changed_since_it_was_seen) {
  const auto c = claimed("k");
  clocks_.advance(kLease);
  const command::TakeOver second{token(c), Nonce::random(), kLease};
  run<result::Claimed>(second);
  clocks_.advance(kLease);
  run<result::Fenced>(command::Settle{token(c), Nonce::random(), answer()});
  run<result::Lapsed>(claim("k"));
}

}  // namespace stet::stores::conformance
