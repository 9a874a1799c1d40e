#include "saga.hpp"

#include <map>
#include <mutex>

#include "shape_test.hpp"

namespace shapes {
namespace {

struct Lost : std::runtime_error {
  Lost() : std::runtime_error("no answer") {}
};

// Counts down over the calls of a run and loses one request or one answer. 0: never.
struct Fault {
  int after = 0;
  enum class Where : std::uint8_t { request, answer } where = Where::request;
  void strike(Where here) {
    if (after > 0 && here == where && --after == 0) throw Lost();
  }
};

class Company final : public Provider {
 public:
  Company(int rooms, Fault& fault) : free_(rooms), fault_(fault) {}

  Reply reserve(const std::string& key) override {
    fault_.strike(Fault::Where::request);
    const std::lock_guard lock(mutex_);
    // One fate for each key, refusals and cancellations too.
    const auto [at, fresh] = fates_.try_emplace(key, free_ > 0 ? Fate::reserved : Fate::refused);
    if (fresh && at->second == Fate::reserved) --free_;
    fault_.strike(Fault::Where::answer);
    return at->second == Fate::reserved ? Reply::yes : Reply::no;
  }
  void cancel(const std::string& key) override {
    fault_.strike(Fault::Where::request);
    const std::lock_guard lock(mutex_);
    // Remembered even if there was nothing, so that the reservation cannot come afterwards.
    const auto [at, fresh] = fates_.try_emplace(key, Fate::cancelled);
    if (at->second == Fate::reserved) ++free_;
    at->second = Fate::cancelled;
    fault_.strike(Fault::Where::answer);
  }
  int free() const { return free_; }

 private:
  enum class Fate : std::uint8_t { reserved, refused, cancelled };
  std::mutex mutex_;
  std::map<std::string, Fate> fates_;
  int free_;
  Fault& fault_;
};

class Saga : public ShapeTest {
 protected:
  void SetUp() override {
    ShapeTest::SetUp();
    schema(kTripsSchema);
  }
  Fault fault;
};

TEST_P(Saga, ATripIsBookedOnceHoweverOftenItIsAskedFor) {
  Company airline(5, fault);
  Company hotel(5, fault);
  EXPECT_EQ(repeated([&](sql::Connection& db) { return book_trip(db, "t1", airline, hotel); }),
            (Outcome{Verdict::done, "booked"}));
  EXPECT_EQ(airline.free(), 4);
  EXPECT_EQ(hotel.free(), 4);
}

TEST_P(Saga, WithoutARoomTheFlightIsGivenBackAndStaysSo) {
  Company airline(5, fault);
  Company hotel(0, fault);
  EXPECT_EQ(repeated([&](sql::Connection& db) { return book_trip(db, "t1", airline, hotel); }),
            (Outcome{Verdict::conflict, "cancelled"}));
  EXPECT_EQ(airline.free(), 5);
  EXPECT_EQ(airline.reserve("t1/flight"), Provider::Reply::no) << "a copy that was under way all the time";
}

TEST_P(Saga, WhereverItIsCutTheNextRunBringsBothOrNeither) {
  for (const int rooms : {0, 1}) {
    for (const auto where : {Fault::Where::request, Fault::Where::answer}) {
      for (int call = 1; call <= 4; ++call) {
        fault = {};
        Company airline(1, fault);
        Company hotel(rooms, fault);
        const std::string trip =
            std::to_string(rooms) + std::to_string(static_cast<int>(where)) + std::to_string(call);
        fault = {call, where};
        try {
          book_trip(db(), trip, airline, hotel);
        } catch (const Lost&) {
          // The client's retry, or the loop that looks after trips.
        }
        const Outcome outcome =
            repeated([&](sql::Connection& db) { return book_trip(db, trip, airline, hotel); });
        EXPECT_EQ(outcome.verdict, rooms == 1 ? Verdict::done : Verdict::conflict);
        EXPECT_EQ(airline.free(), 1 - rooms) << "call " << call;
        EXPECT_EQ(hotel.free(), 0) << "call " << call;
      }
    }
  }
}

TEST_P(Saga, NaivelyUndoingOnlyWhatIsKnownToBeDoneAFlightIsLeft) {
  Company airline(1, fault);
  bool flying = false;
  fault = {1, Fault::Where::answer};
  try {
    flying = airline.reserve("t1/flight") == Provider::Reply::yes;
  } catch (const Lost&) {
    if (flying) airline.cancel("t1/flight");  // it does not know that it flies
  }
  EXPECT_EQ(airline.free(), 0) << "a flight that nobody will take";
}

SHAPE_TEST_ON_BOTH_DATABASES(Saga);

}  // namespace
}  // namespace shapes
