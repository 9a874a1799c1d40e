#include "compound.hpp"

#include "shape_test.hpp"

namespace shapes {
namespace {

class Compound : public ShapeTest {
 protected:
  void SetUp() override {
    ShapeTest::SetUp();
    schema(kAccountsSchema);
    for (const char* id : {"ada", "bob"}) db().run("INSERT INTO accounts (id, cents) VALUES ($1, 1000)", id);
  }
  std::int64_t cents(const char* id) {
    return db().run("SELECT cents FROM accounts WHERE id = $1", id).number();
  }
};

TEST_P(Compound, MoneyMovesOnceHoweverOftenTheTransferIsSent) {
  const Transfer asked{"t1", "ada", "bob", 300};
  EXPECT_EQ(repeated([&](sql::Connection& db) { return transfer(db, asked); }).verdict, Verdict::done);
  EXPECT_EQ(cents("ada"), 700);
  EXPECT_EQ(cents("bob"), 1300);
}

TEST_P(Compound, ATransferThatCannotBePaidLeavesNothingBehind) {
  for (const Transfer& asked : {Transfer{"t1", "ada", "bob", 3000}, Transfer{"t2", "bob", "ada", 3000},
                                Transfer{"t3", "ada", "nobody", 1}, Transfer{"t4", "ada", "zoe", 1}}) {
    EXPECT_EQ(repeated([&](sql::Connection& db) { return transfer(db, asked); }).verdict, Verdict::conflict);
  }
  EXPECT_EQ(cents("ada"), 1000);
  EXPECT_EQ(cents("bob"), 1000);
  EXPECT_EQ(number("SELECT count(*) FROM transfers"), 0);
}

TEST_P(Compound, BothDirectionsAtOnceNeitherStandStillNorLoseMoney) {
  std::atomic<int> next{0};
  at_once<Outcome>(8, [&](sql::Connection& db) {
    const int i = next++;
    const Transfer asked{std::to_string(i), i % 2 == 0 ? "ada" : "bob", i % 2 == 0 ? "bob" : "ada", 10};
    transfer(db, asked);
    return transfer(db, asked);
  });
  EXPECT_EQ(number("SELECT count(*) FROM transfers"), 8);
  EXPECT_EQ(cents("ada"), 1000);
  EXPECT_EQ(cents("bob"), 1000);
}

TEST_P(Compound, NaivelyInTwoTransactionsACrashBetweenThemLosesTheTransferForEver) {
  const auto naive = [this](bool crash) {
    if (db().run("INSERT INTO transfers (id, source, target, cents) VALUES ('t1', 'ada', 'bob', 300) "
                 "ON CONFLICT DO NOTHING")
            .changed == 0) {
      return Verdict::done;  // "we had that one"
    }
    if (crash) throw std::runtime_error("killed");
    db().run("UPDATE accounts SET cents = cents - 300 WHERE id = 'ada'");
    return Verdict::done;
  };
  EXPECT_THROW(naive(true), std::runtime_error);
  EXPECT_EQ(naive(false), Verdict::done);
  EXPECT_EQ(cents("ada"), 1000) << "told done, and never done";
}

SHAPE_TEST_ON_BOTH_DATABASES(Compound);

}  // namespace
}  // namespace shapes
