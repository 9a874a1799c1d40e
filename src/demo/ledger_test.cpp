#include "demo/ledger.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace stet::demo {
namespace {

class DemoLedger : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "stet-ledger-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string file() const { return (directory_ / "ledger.db").string(); }
  std::filesystem::path directory_;
};

TEST_F(DemoLedger, makes_a_new_charge_for_each_call_even_under_one_key) {
  Ledger ledger(file());
  const Provenance provenance{"k1", "op1", "1"};
  const auto first = ledger.add({4900, "eur", ""}, provenance);
  const auto second = ledger.add({4900, "eur", ""}, provenance);
  EXPECT_NE(first.id(), second.id());
  EXPECT_NE(first.response_id, second.response_id);
  EXPECT_EQ(ledger.count("k1"), 2u);
  EXPECT_EQ(ledger.count("k2"), 0u);
}

TEST_F(DemoLedger, keeps_charges_and_their_provenance_across_a_restart) {
  {
    Ledger ledger(file());
    ledger.add({4900, "eur", "x"}, {"k1", "op1", "2"});
    ledger.add({100, "usd", ""}, {});
  }
  Ledger ledger(file());
  EXPECT_EQ(ledger.count(std::nullopt), 2u);
  const auto kept = ledger.list("k1", 10);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].order.amount, 4900);
  EXPECT_EQ(kept[0].provenance.operation, "op1");
  EXPECT_EQ(kept[0].provenance.attempt, "2");
  EXPECT_FALSE(ledger.find(2)->provenance.idempotency_key);
  EXPECT_FALSE(ledger.find(3));
}

TEST_F(DemoLedger, remembers_which_keys_have_met_their_fault) {
  {
    Ledger ledger(file());
    EXPECT_TRUE(ledger.first_fault_for("k1"));
    EXPECT_FALSE(ledger.first_fault_for("k1"));
  }
  Ledger ledger(file());
  EXPECT_FALSE(ledger.first_fault_for("k1"));
  EXPECT_TRUE(ledger.first_fault_for("k2"));
}

TEST_F(DemoLedger, says_why_it_cannot_be_opened) {
  try {
    Ledger ledger((directory_ / "missing" / "ledger.db").string());
    FAIL() << "a ledger in a directory that is not there";
  } catch (const StoreError& error) {
    EXPECT_NE(std::string(error.what()).find("ledger"), std::string::npos);
  }
}

}  // namespace
}  // namespace stet::demo
