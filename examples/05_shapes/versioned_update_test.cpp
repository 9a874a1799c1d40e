#include "versioned_update.hpp"

#include "shape_test.hpp"

namespace shapes {
namespace {

class VersionedUpdate : public ShapeTest {
 protected:
  void SetUp() override {
    ShapeTest::SetUp();
    schema(kProfilesSchema);
    db().run("INSERT INTO profiles (id, email, version) VALUES ('ada', 'old@x.example', 7)");
  }
  Outcome change(std::int64_t version, const std::string& email) {
    return repeated(
        [version, email](sql::Connection& db) { return change_email(db, "ada", version, email); });
  }
};

TEST_P(VersionedUpdate, AnEditIsMadeOnceAndEveryCopyIsToldTheVersionItMade) {
  EXPECT_EQ(change(7, "new@x.example"), (Outcome{Verdict::done, "8"}));
  EXPECT_EQ(number("SELECT version FROM profiles"), 8);
}

TEST_P(VersionedUpdate, AnEditOfAStaleVersionIsAConflict) {
  change(7, "new@x.example");
  EXPECT_EQ(change(7, "other@x.example"), (Outcome{Verdict::conflict, "8"}));
  EXPECT_EQ(db().run("SELECT email FROM profiles").value(), "new@x.example");
}

TEST_P(VersionedUpdate, OfDifferentEditsAtOnceOneWinsAndTheOthersHearOfIt) {
  std::atomic<int> next{0};
  const auto outcomes = at_once<Outcome>(8, [&](sql::Connection& db) {
    return change_email(db, "ada", 7, std::to_string(next++) + "@x.example");
  });
  EXPECT_EQ(std::ranges::count(outcomes, Verdict::done, &Outcome::verdict), 1);
  EXPECT_EQ(number("SELECT version FROM profiles"), 8);
}

TEST_P(VersionedUpdate, NaivelyWithoutTheVersionOneEditOverwritesTheOther) {
  const auto set = [this](const char* email) {
    db().run("UPDATE profiles SET email = $1 WHERE id = 'ada'", email);
  };
  set("first@x.example");   // Ada corrects her address
  set("second@x.example");  // support does, looking at the old one
  set("first@x.example");   // and the copy of Ada's request comes late
  EXPECT_EQ(db().run("SELECT email FROM profiles").value(), "first@x.example")
      << "nobody heard of the other edit";
}

TEST_P(VersionedUpdate, NaivelyAnsweredByTheRowCountTheCopyOfASuccessIsRefused) {
  const auto naive = [this] {
    return db()
        .run(
            "UPDATE profiles SET email = 'new@x.example', version = version + 1 WHERE id = 'ada' AND version "
            "= 7")
        .changed;
  };
  EXPECT_EQ(naive(), 1);
  EXPECT_EQ(naive(), 0) << "412 for what has succeeded";
}

SHAPE_TEST_ON_BOTH_DATABASES(VersionedUpdate);

}  // namespace
}  // namespace shapes
