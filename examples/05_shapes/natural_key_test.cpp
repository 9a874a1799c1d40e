#include "natural_key.hpp"

#include "shape_test.hpp"

namespace shapes {
namespace {

class NaturalKey : public ShapeTest {
 protected:
  void SetUp() override {
    ShapeTest::SetUp();
    schema(kInvoicesSchema);
  }
  Outcome receive(const std::string& supplier, const std::string& number, std::int64_t cents) {
    return repeated([=](sql::Connection& db) { return receive_invoice(db, supplier, number, cents); });
  }
};

TEST_P(NaturalKey, AnInvoiceIsBookedOnceInWhateverSpellingItComes) {
  EXPECT_EQ(receive("acme", "re-2031-1", 4900), (Outcome{Verdict::done, "4900"}));
  EXPECT_EQ(receive("acme", " RE-2031-1 ", 4900), (Outcome{Verdict::done, "4900"}));
  EXPECT_EQ(number("SELECT count(*) FROM invoices"), 1);
}

TEST_P(NaturalKey, AnotherSuppliersSameNumberIsAnotherInvoice) {
  receive("acme", "RE-1", 4900);
  EXPECT_EQ(receive("zenith", "RE-1", 100).verdict, Verdict::done);
  EXPECT_EQ(number("SELECT count(*) FROM invoices"), 2);
}

TEST_P(NaturalKey, AnotherAmountUnderTheSameNumberIsSaid) {
  receive("acme", "RE-1", 4900);
  EXPECT_EQ(receive("acme", "RE-1", 5900), (Outcome{Verdict::conflict, "4900"}));
}

TEST_P(NaturalKey, NaivelyLookedUpFirstTwoAtOnceBookItTwice) {
  db().script("CREATE TABLE unguarded (number TEXT NOT NULL)");
  // Both look before either acts, which is what happens at once sooner or later.
  const bool first_sees_none = db().run("SELECT 1 FROM unguarded WHERE number = 'RE-1'").empty();
  const bool second_sees_none = connect()->run("SELECT 1 FROM unguarded WHERE number = 'RE-1'").empty();
  if (first_sees_none) db().run("INSERT INTO unguarded (number) VALUES ('RE-1')");
  if (second_sees_none) db().run("INSERT INTO unguarded (number) VALUES ('RE-1')");
  EXPECT_EQ(number("SELECT count(*) FROM unguarded"), 2);
}

TEST_P(NaturalKey, NaivelyWithTheAmountInTheKeyACorrectedCopyIsPaidToo) {
  db().script("CREATE TABLE wide (number TEXT NOT NULL, cents BIGINT NOT NULL, PRIMARY KEY (number, cents))");
  for (const int cents : {4900, 4900, 4800}) {
    db().run("INSERT INTO wide (number, cents) VALUES ('RE-1', $1) ON CONFLICT DO NOTHING", cents);
  }
  EXPECT_EQ(number("SELECT sum(cents) FROM wide"), 9700);
}

SHAPE_TEST_ON_BOTH_DATABASES(NaturalKey);

}  // namespace
}  // namespace shapes
