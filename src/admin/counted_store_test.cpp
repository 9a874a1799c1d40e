#include "admin/counted_store.hpp"

#include <gtest/gtest.h>

namespace stet::admin {
namespace {

// Answers every command with Ok, or fails as told.
class ScriptedStore final : public Store {
 public:
  std::optional<StoreFailure> failure;
  Result answer = result::Ok{};
  bool has_record = true;

  std::vector<Outcome> execute(std::span<const Command> batch) override {
    fail_if_told();
    return std::vector<Outcome>(batch.size(), answer);
  }
  std::optional<Result> peek(const command::Claim& claim) noexcept override {
    if (claim.key == "seen") return result::Replay{};
    return std::nullopt;
  }
  std::optional<Record> find(const OperationId&) override {
    fail_if_told();
    if (!has_record) return std::nullopt;
    return Record{};
  }
  Page list(const Filter&, std::size_t, const std::string& cursor) override {
    fail_if_told();
    return {{}, cursor + "+"};
  }

 private:
  void fail_if_told() const {
    if (failure) throw StoreError(*failure, "as told");
  }
};

struct CountedStoreTest : testing::Test {
  StoreMetrics metrics;
  ScriptedStore* inner = new ScriptedStore;
  CountedStore store{std::unique_ptr<Store>(inner), metrics};
  std::vector<Command> renewals{command::Renew{}, command::Renew{}};

  std::uint64_t errors(StoreFailure kind) const {
    return metrics.errors[static_cast<std::size_t>(kind)].value();
  }
};

TEST_F(CountedStoreTest, passes_everything_through_and_counts_it) {
  EXPECT_EQ(store.execute(renewals).size(), 2U);
  EXPECT_TRUE(store.find({}).has_value());
  EXPECT_EQ(store.list({}, 10, "a").next, "a+");
  EXPECT_EQ(metrics.batches.value(), 1U);
  EXPECT_EQ(metrics.batch_size.sum(), 2U);
  EXPECT_EQ(metrics.reachable.value(), 1);
}

TEST_F(CountedStoreTest, counts_claims_answered_from_memory) {
  command::Claim claim;
  EXPECT_FALSE(store.peek(claim).has_value());
  claim.key = "seen";
  EXPECT_TRUE(store.peek(claim).has_value());
  EXPECT_EQ(metrics.peeked.value(), 1U);
}

TEST_F(CountedStoreTest, shows_an_unreachable_store_until_it_answers_again) {
  inner->failure = StoreFailure::unavailable;
  EXPECT_THROW(store.execute(renewals), StoreError);
  EXPECT_EQ(metrics.reachable.value(), 0);
  EXPECT_EQ(errors(StoreFailure::unavailable), 1U);
  EXPECT_EQ(metrics.batches.value(), 0U);
  inner->failure.reset();
  store.find({});
  EXPECT_EQ(metrics.reachable.value(), 1);
}

TEST_F(CountedStoreTest, counts_a_full_store_as_full_and_not_as_unreachable) {
  store.find({});
  inner->failure = StoreFailure::full;
  EXPECT_THROW(store.execute(renewals), StoreError);
  EXPECT_EQ(metrics.reachable.value(), 1);
  EXPECT_EQ(errors(StoreFailure::full), 1U);
}

TEST_F(CountedStoreTest, raises_the_alarm_when_an_owner_finds_its_claim_gone) {
  const std::vector<Command> completions{command::Complete{}};
  inner->answer = result::Fenced{};
  store.execute(completions);  // somebody else has the record
  store.execute(renewals);
  EXPECT_EQ(metrics.lost_claims.value(), 0U);
  inner->has_record = false;
  const std::vector<Command> releases{command::Release{}};
  store.execute(releases);  // its reply was lost, and it is repeated
  EXPECT_EQ(metrics.lost_claims.value(), 0U);
  store.execute(completions);
  EXPECT_EQ(metrics.lost_claims.value(), 1U);
  store.execute(renewals);  // of one that takes long
  EXPECT_EQ(metrics.lost_claims.value(), 1U + renewals.size());
}

}  // namespace
}  // namespace stet::admin
