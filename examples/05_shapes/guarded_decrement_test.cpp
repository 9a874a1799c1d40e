#include "guarded_decrement.hpp"

#include "shape_test.hpp"

namespace shapes {
namespace {

class GuardedDecrement : public ShapeTest {
 protected:
  void SetUp() override {
    ShapeTest::SetUp();
    schema(kStockSchema);
    db().run("INSERT INTO stock (item, available) VALUES ('seat', 3)");
  }
  Outcome held(const std::string& id) {
    return repeated([id](sql::Connection& db) { return hold(db, id, "seat"); });
  }
  std::int64_t available() { return number("SELECT available FROM stock"); }
};

TEST_P(GuardedDecrement, AHoldTakesOneHoweverOftenItIsAskedFor) {
  EXPECT_EQ(held("h1"), (Outcome{Verdict::done, "held"}));
  EXPECT_EQ(available(), 2);
}

TEST_P(GuardedDecrement, NoMoreAreHeldThanThereAre) {
  std::atomic<int> next{0};
  const auto outcomes = at_once<Outcome>(8, [&](sql::Connection& db) {
    const std::string id = "h" + std::to_string(next++);
    hold(db, id, "seat");
    return hold(db, id, "seat");
  });
  EXPECT_EQ(std::ranges::count(outcomes, Verdict::done, &Outcome::verdict), 3);
  EXPECT_EQ(available(), 0);
  EXPECT_EQ(number("SELECT count(*) FROM holds"), 3) << "who got nothing has no row";
}

TEST_P(GuardedDecrement, WhoWasRefusedMayAskAgainWhenSomethingIsLeft) {
  for (const char* id : {"h1", "h2", "h3"}) hold(db(), id, "seat");
  EXPECT_EQ(held("h4"), (Outcome{Verdict::conflict, "none left"}));
  repeated([](sql::Connection& db) { return give_back(db, "h1"); });
  EXPECT_EQ(available(), 1);
  EXPECT_EQ(held("h4").verdict, Verdict::done);
}

TEST_P(GuardedDecrement, ALateCopyDoesNotHoldWhatWasGivenBack) {
  held("h1");
  repeated([](sql::Connection& db) { return give_back(db, "h1"); });
  EXPECT_EQ(held("h1"), (Outcome{Verdict::conflict, "given back"}));
  EXPECT_EQ(available(), 3);
}

TEST_P(GuardedDecrement, NaivelyWithoutTheHoldsRowACopyTakesAnother) {
  for (int copy = 0; copy < 2; ++copy) {
    db().run("UPDATE stock SET available = available - 1 WHERE item = 'seat' AND available > 0");
  }
  EXPECT_EQ(available(), 1) << "one hold, sent twice";
}

TEST_P(GuardedDecrement, NaivelyComparedInTheProgramTwoAtOnceTakeTheLastOne) {
  db().run("UPDATE stock SET available = 1");
  const auto second = connect();
  const std::int64_t first_sees = available();
  const std::int64_t second_sees = second->run("SELECT available FROM stock").number();
  if (first_sees > 0) db().run("UPDATE stock SET available = $1", first_sees - 1);
  if (second_sees > 0) second->run("UPDATE stock SET available = $1", second_sees - 1);
  EXPECT_EQ(first_sees, 1);
  EXPECT_EQ(second_sees, 1) << "two were promised the last seat";
  EXPECT_EQ(available(), 0) << "and the stock does not even show it";
}

SHAPE_TEST_ON_BOTH_DATABASES(GuardedDecrement);

}  // namespace
}  // namespace shapes
