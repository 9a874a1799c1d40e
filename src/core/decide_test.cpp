#include "stet/decide.hpp"

#include <gtest/gtest.h>

namespace stet {
namespace {

const Recipe kRecipe = "v1";
const Token kSeen{"s", "k", {}, 3};

Policy route(UpstreamPromise promise = UpstreamPromise::none) {
  Policy policy;
  policy.promise = promise;
  return policy;
}

Terms terms(OnUnknown on_unknown) {
  Terms terms;
  terms.on_unknown = on_unknown;
  return terms;
}

template <class D>
D decided(const Result& result, const Policy& policy = route(), RunsHere here = RunsHere::no) {
  const Decision decision = decide(result, policy, kRecipe, here);
  EXPECT_TRUE(std::holds_alternative<D>(decision)) << decision.index();
  return std::holds_alternative<D>(decision) ? std::get<D>(decision) : D{};
}

TEST(Decide, runs_only_what_is_claimed) {
  decided<decision::Run>(result::Claimed{1, "", false});
}

TEST(Decide, shows_a_stored_answer) {
  const auto show = decided<decision::Show>(result::Replay{Answer{201, {}, "x"}, std::nullopt});
  EXPECT_EQ(show.shown.kind, ShownKind::replay);
  EXPECT_EQ(show.shown.outcome, Outcome::replayed);
}

// stripe-ruby#598: the error did not say which endpoint had used the key first.
TEST(Decide, names_the_first_use_of_a_reused_key_and_its_state) {
  const auto show =
      decided<decision::Show>(result::Mismatch{State::unknown, Fingerprint{{}, kRecipe}, "POST", "/charges"});
  EXPECT_EQ(show.shown.problem, Problem::key_reused);
  EXPECT_EQ(show.shown.outcome, Outcome::unknown);
  EXPECT_NE(show.shown.detail.find("POST /charges"), std::string::npos);
}

TEST(Decide, leaves_no_gap_where_a_session_was_not_told_the_first_use) {
  const auto show = decided<decision::Show>(result::Mismatch{State::completed, Fingerprint{{}, kRecipe}, "", ""});
  EXPECT_NE(show.shown.detail.find("a different request. A retry"), std::string::npos) << show.shown.detail;
}

TEST(Decide, judges_a_difference_by_the_recipe_that_made_the_stored_fingerprint) {
  EXPECT_EQ(decided<decision::Compare>(result::Mismatch{State::completed, Fingerprint{{}, "v0"}, "POST", "/"})
                .recipe,
            "v0");
}

TEST(Decide, settles_a_lapsed_record_as_unknown_unless_its_policy_says_more) {
  EXPECT_EQ(decided<decision::SettleUnknown>(result::Lapsed{kSeen, terms(OnUnknown::fail), false}).seen,
            kSeen);
  EXPECT_EQ(decided<decision::Ask>(result::Lapsed{kSeen, terms(OnUnknown::ask), false}).seen, kSeen);
}

TEST(Decide, takes_over_only_when_both_the_record_and_the_route_of_today_promise_deduplication) {
  const result::Lapsed lapsed{kSeen, terms(OnUnknown::retry), false};
  EXPECT_EQ(decided<decision::TakeOver>(lapsed, route(UpstreamPromise::idempotent)).seen, kSeen);
  decided<decision::SettleUnknown>(lapsed, route(UpstreamPromise::none));
  decided<decision::SettleUnknown>(result::Lapsed{kSeen, terms(OnUnknown::fail), false},
                                   route(UpstreamPromise::idempotent));
}

TEST(Decide, takes_a_joined_attempt_over_only_where_the_route_of_today_joins_too) {
  const result::Lapsed lapsed{kSeen, terms(OnUnknown::joined), false};
  EXPECT_EQ(decided<decision::TakeOver>(lapsed, route(UpstreamPromise::joins)).seen, kSeen);
  EXPECT_EQ(decided<decision::SettleUnknown>(lapsed, route(UpstreamPromise::none)).seen, kSeen);
  decided<decision::SettleUnknown>(lapsed, route(UpstreamPromise::idempotent));
  // The promise of today says nothing of an attempt that was made without it.
  decided<decision::SettleUnknown>(result::Lapsed{kSeen, terms(OnUnknown::fail), false},
                                   route(UpstreamPromise::joins));
  decided<decision::SettleUnknown>(result::Lapsed{kSeen, terms(OnUnknown::retry), false},
                                   route(UpstreamPromise::joins));
}

TEST(Decide, waits_for_an_owner_in_this_process_whose_lease_ran_out) {
  for (const OnUnknown policy : {OnUnknown::fail, OnUnknown::retry, OnUnknown::ask, OnUnknown::joined}) {
    decided<decision::Wait>(result::Lapsed{kSeen, terms(policy), false}, route(UpstreamPromise::idempotent),
                            RunsHere::yes);
  }
}

TEST(Decide, runs_nothing_on_a_result_that_no_claim_has) {
  EXPECT_EQ(decided<decision::Show>(result::Ok{}).shown.problem, Problem::store_corrupt);
  EXPECT_EQ(decided<decision::Show>(result::Fenced{}).shown.problem, Problem::store_corrupt);
}

// square/connect-api-examples#135: the same key doubled stock after expiry.
TEST(Decide, refuses_a_key_whose_answer_has_expired) {
  EXPECT_EQ(decided<decision::Show>(result::Expired{}).shown.problem, Problem::key_expired);
}

Record lapsed_record(OnUnknown on_unknown) {
  Record record;
  record.terms = terms(on_unknown);
  return record;
}

TEST(Reconcile, follows_the_records_own_policy) {
  for (const UpstreamPromise now :
       {UpstreamPromise::none, UpstreamPromise::idempotent, UpstreamPromise::joins}) {
    EXPECT_EQ(reconcile(lapsed_record(OnUnknown::fail), now), Reconcile::settle_unknown);
    EXPECT_EQ(reconcile(lapsed_record(OnUnknown::ask), now), Reconcile::ask);
    EXPECT_EQ(reconcile(lapsed_record(OnUnknown::retry), now), Reconcile::leave);
  }
}

TEST(Reconcile, frees_a_joined_record_unless_its_route_does_not_join_any_more) {
  const Record record = lapsed_record(OnUnknown::joined);
  EXPECT_EQ(reconcile(record, UpstreamPromise::joins), Reconcile::release);
  EXPECT_EQ(reconcile(record, UpstreamPromise::none), Reconcile::settle_unknown);
  EXPECT_EQ(reconcile(record, UpstreamPromise::idempotent), Reconcile::settle_unknown);
}

TEST(Reconcile, does_not_free_what_has_reached_a_recovery_point) {
  Record record = lapsed_record(OnUnknown::joined);
  record.recovery_point = "charged";
  EXPECT_EQ(reconcile(record, UpstreamPromise::joins), Reconcile::leave);
}

}  // namespace
}  // namespace stet
