#include "transition.hpp"

#include "shape_test.hpp"

namespace shapes {
namespace {

class Transition : public ShapeTest {
 protected:
  void SetUp() override {
    ShapeTest::SetUp();
    schema(kParcelsSchema);
    db().run("INSERT INTO parcels (id, customer, status) VALUES ('p1', 'ada', 'packed')");
    db().run("INSERT INTO points (customer, points) VALUES ('ada', 0)");
  }
  std::int64_t points() { return number("SELECT points FROM points"); }
};

TEST_P(Transition, AParcelIsShippedOnceAndItsPointsAreGivenOnce) {
  EXPECT_EQ(repeated([](sql::Connection& db) { return ship(db, "p1"); }),
            (Outcome{Verdict::done, "shipped"}));
  EXPECT_EQ(points(), 10);
}

TEST_P(Transition, ALateCopyDoesNotShipWhatCameBack) {
  ship(db(), "p1");
  db().run("UPDATE parcels SET status = 'returned'");
  EXPECT_EQ(repeated([](sql::Connection& db) { return ship(db, "p1"); }),
            (Outcome{Verdict::conflict, "returned"}));
  EXPECT_EQ(points(), 10);
}

TEST_P(Transition, WhatIsNotThereIsNotShipped) {
  EXPECT_EQ(repeated([](sql::Connection& db) { return ship(db, "p2"); }).verdict, Verdict::absent);
}

TEST_P(Transition, NaivelyWithoutTheStateItComesFromPointsAreGivenTwiceAndTheReturnIsUndone) {
  const auto naive = [this] {
    db().run("UPDATE parcels SET status = 'shipped' WHERE id = 'p1'");
    db().run("UPDATE points SET points = points + 10 WHERE customer = 'ada'");
  };
  naive();
  db().run("UPDATE parcels SET status = 'returned'");
  naive();
  EXPECT_EQ(points(), 20);
  EXPECT_EQ(db().run("SELECT status FROM parcels").value(), "shipped");
}

SHAPE_TEST_ON_BOTH_DATABASES(Transition);

}  // namespace
}  // namespace shapes
