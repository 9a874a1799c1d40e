// Records whose upstream commits its rows only together with the answer (docs/protocol.md, "Joining routes"), and what
// an observer may do to an owner that lives.

#include <set>

#include "stores/conformance/subject.hpp"

namespace stet::stores::conformance {

using namespace std::chrono_literals;

namespace {

command::Claim joined(command::Claim claim) {
  claim.terms.on_unknown = OnUnknown::joined;
  return claim;
}

}  // namespace

TEST_P(StoreConformance, keeps_the_terms_of_a_joined_record) {
  const auto c = joined(claim("k"));
  run<result::Claimed>(c);
  EXPECT_EQ(record("k")->terms, c.terms);
  clocks_.advance(kLease);
  EXPECT_EQ(run<result::Lapsed>(claim("k")).terms, c.terms);
}

TEST_P(StoreConformance, takes_a_joined_attempt_for_one_that_did_nothing) {
  const auto c = joined(claim("k"));
  run<result::Claimed>(c);
  for (std::uint32_t attempt = 2; attempt <= 4; ++attempt) {
    clocks_.advance(kLease);
    const auto seen = run<result::Lapsed>(claim("k"));
    EXPECT_FALSE(seen.maybe_executed);
    const command::TakeOver taking{seen.token, Nonce::random(), kLease};
    for (int twice = 0; twice < 2; ++twice) {
      const auto granted = run<result::Claimed>(taking);
      EXPECT_EQ(granted.attempt, attempt);
      EXPECT_FALSE(granted.maybe_executed);
    }
    EXPECT_FALSE(record("k")->maybe_executed);
  }
  run<result::Fenced>(command::Complete{token(c), answer("zombie"), std::nullopt});
}

TEST_P(StoreConformance, frees_a_joined_record_after_any_number_of_attempts) {
  const auto c = joined(claim("k"));
  run<result::Claimed>(c);
  clocks_.advance(kLease);
  const command::TakeOver taking{token(c), Nonce::random(), kLease};
  run<result::Claimed>(taking);
  run<result::Ok>(command::Release{{"scope", "k", taking.nonce, 2}});
  EXPECT_EQ(state("k"), "absent");
  for (const Token& dead : {token(c), Token{"scope", "k", taking.nonce, 2}}) {
    run<result::Fenced>(command::Complete{dead, answer("zombie"), std::nullopt});
    run<result::Fenced>(command::Renew{dead, kLease});
  }
  EXPECT_EQ(run<result::Claimed>(joined(claim("k"))).attempt, 1U);
  run<result::Fenced>(command::Complete{token(c), answer("zombie"), std::nullopt});
}

TEST_P(StoreConformance, fences_a_release_that_comes_after_the_answer) {
  const auto c = joined(claim("k"));
  run<result::Claimed>(c);
  run<result::Ok>(command::Complete{token(c), answer("joined"), std::nullopt});
  run<result::Fenced>(command::Release{token(c)});
  run<result::Fenced>(command::Renew{token(c), kLease});
  run<result::Fenced>(command::Complete{token(c), answer("what the connection said"), std::nullopt});
  const auto found = store().find(token(c).id());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->token, token(c));
  EXPECT_EQ(found->answer, answer("joined"));
}

// ---- an observer ----

using By = command::SettleUnknown::By;

TEST_P(StoreConformance, lets_nobody_settle_what_its_owner_has_renewed_meanwhile) {
  const auto c = claimed("k");
  clocks_.advance(kLease);
  const Token seen = run<result::Lapsed>(claim("k")).token;
  run<result::Ok>(command::Renew{token(c), kLease});
  run<result::Fenced>(command::SettleUnknown{seen, By::observer});
  EXPECT_EQ(state("k"), "pending");
  run<result::Ok>(command::SettleUnknown{seen, By::owner});
  EXPECT_EQ(state("k"), "unknown");
  run<result::Ok>(command::SettleUnknown{seen, By::observer});
}

TEST_P(StoreConformance, lists_what_has_lapsed_by_its_own_clock) {
  const auto early = claimed("early");
  claimed("done");
  completed("done before");
  unknown("lost");
  clocks_.advance(10s);
  claimed("late");
  const auto lapsed = [&](std::size_t limit) {
    Filter filter;
    filter.lease = Filter::Lease::lapsed;
    std::multiset<std::string> found;
    for (const Record& r : list_all(filter, limit)) found.insert(r.token.key);
    return found;
  };
  using Keys = std::multiset<std::string>;
  EXPECT_EQ(lapsed(10), Keys{});
  clocks_.advance(kLease - 10s);
  EXPECT_EQ(lapsed(1), (Keys{"early", "done"}));
  run<result::Ok>(command::Renew{token(early), kLease});
  EXPECT_EQ(lapsed(10), Keys{"done"});
  Filter one;
  one.lease = Filter::Lease::lapsed;
  one.state = State::pending;
  one.scope = "scope";
  one.key = "early";
  EXPECT_TRUE(list_all(one, 10).empty());
  one.key = "done";
  EXPECT_EQ(list_all(one, 10).size(), 1U);
  run<result::Ok>(command::GiveBack{token(early)});
  EXPECT_EQ(lapsed(10), (Keys{"early", "done"}));
}

}  // namespace stet::stores::conformance
