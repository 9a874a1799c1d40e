#include "client_named.hpp"

#include "shape_test.hpp"

namespace shapes {
namespace {

class ClientNamed : public ShapeTest {
 protected:
  void SetUp() override {
    ShapeTest::SetUp();
    schema(kOrdersSchema);
  }
  Outcome put(const Order& order) {
    return repeated([order](sql::Connection& db) { return put_order(db, order); });
  }
};

TEST_P(ClientNamed, AnOrderIsMadeOnceHoweverOftenItIsPut) {
  EXPECT_EQ(put({"ada", "6f1c", "chair", 2}), (Outcome{Verdict::done, "6f1c"}));
  EXPECT_EQ(number("SELECT count(*) FROM orders"), 1);
}

TEST_P(ClientNamed, AnotherContentUnderTheSameNameIsAConflictAndChangesNothing) {
  put({"ada", "6f1c", "chair", 2});
  EXPECT_EQ(put({"ada", "6f1c", "chair", 3}).verdict, Verdict::conflict);
  EXPECT_EQ(number("SELECT quantity FROM orders"), 2);
}

TEST_P(ClientNamed, TheSameNameFromAnotherCustomerIsAnotherOrder) {
  put({"ada", "6f1c", "chair", 2});
  EXPECT_EQ(put({"eve", "6f1c", "table", 1}).verdict, Verdict::done);
  EXPECT_EQ(number("SELECT count(*) FROM orders"), 2);
}

TEST_P(ClientNamed, NaivelyUpsertedALateCopyUndoesALaterChange) {
  const auto upsert = [this](const Order& order) {
    db().run(
        "INSERT INTO orders (customer, id, item, quantity) VALUES ($1, $2, $3, $4) "
        "ON CONFLICT (customer, id) DO UPDATE SET quantity = excluded.quantity",
        order.customer, order.id, order.item, order.quantity);
  };
  upsert({"ada", "6f1c", "chair", 2});
  db().run("UPDATE orders SET quantity = 5");
  upsert({"ada", "6f1c", "chair", 2});
  EXPECT_EQ(number("SELECT quantity FROM orders"), 2) << "the change to 5 is gone";
}

TEST_P(ClientNamed, NaivelyNamedByTheServerEachCopyIsAnOrder) {
  int made = 0;
  for (int copy = 0; copy < 2; ++copy)
    put_order(db(), {"ada", "server-made-" + std::to_string(++made), "chair", 2});
  EXPECT_EQ(number("SELECT count(*) FROM orders"), 2);
}

SHAPE_TEST_ON_BOTH_DATABASES(ClientNamed);

}  // namespace
}  // namespace shapes
