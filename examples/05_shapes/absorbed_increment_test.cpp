#include "absorbed_increment.hpp"

#include "shape_test.hpp"

namespace shapes {
namespace {

class AbsorbedIncrement : public ShapeTest {
 protected:
  void SetUp() override {
    ShapeTest::SetUp();
    schema(kViewsSchema);
  }
};

TEST_P(AbsorbedIncrement, AViewCountsOnceHoweverOftenItIsReported) {
  repeated([](sql::Connection& db) { return view(db, "e1", "news"); });
  repeated([](sql::Connection& db) { return view(db, "e2", "news"); });
  EXPECT_EQ(views(db(), "news"), 2);
}

TEST_P(AbsorbedIncrement, DifferentViewsAtOnceAllCount) {
  std::atomic<int> next{0};
  const auto twice = [&](sql::Connection& db) {
    const std::string event = std::to_string(next++);
    view(db, event, "news");
    return view(db, event, "news");
  };
  at_once<Outcome>(8, twice);
  EXPECT_EQ(views(db(), "news"), 8);
}

TEST_P(AbsorbedIncrement, NaivelyAddedUpACopyCountsAgain) {
  db().script("CREATE TABLE counters (article TEXT PRIMARY KEY, n BIGINT NOT NULL)");
  db().run("INSERT INTO counters (article, n) VALUES ('news', 0)");
  for (int copy = 0; copy < 2; ++copy) db().run("UPDATE counters SET n = n + 1 WHERE article = 'news'");
  EXPECT_EQ(number("SELECT n FROM counters"), 2) << "one view, sent twice";
}

SHAPE_TEST_ON_BOTH_DATABASES(AbsorbedIncrement);

}  // namespace
}  // namespace shapes
