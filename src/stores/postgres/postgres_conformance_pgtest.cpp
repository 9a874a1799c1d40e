// The suite of all engines on PostgreSQL. The server's clock is in the test's hand: stet.clock() is replaced,
// in the test's own database, by one that reads a row which is set before each call.

#include "stores/conformance/subject.hpp"
#include "stores/postgres/database_for_test.hpp"
#include "stores/sealed/sealed_store.hpp"

namespace stet::stores::conformance {
namespace {

using postgres::Connection;
using postgres::Parameters;
using postgres::TestDatabase;

constexpr const char* kClock =
    "CREATE TABLE public.test_clock (us bigint NOT NULL); INSERT INTO public.test_clock VALUES (0);"
    "CREATE OR REPLACE FUNCTION stet.clock() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN"
    " (SELECT timestamptz 'epoch' + us * interval '1 microsecond' FROM public.test_clock);";

// One for the whole run: creating the schema anew for each test would take longer than the tests.
TestDatabase& database() {
  static TestDatabase database;
  static const bool prepared = [] {
    postgres::open(database.url(), {});
    database.sql(kClock);
    return true;
  }();
  EXPECT_TRUE(prepared);
  return database;
}

// Sets the server's clock before each call: the test's wall clock, and a microsecond more for each call, as
// no two claims of the real world have the same time.
class OnTestClock final : public Store {
 public:
  OnTestClock(std::unique_ptr<Store> store, Clocks clocks, Connection connection)
      : store_(std::move(store)), clocks_(std::move(clocks)), connection_(std::move(connection)) {}

  static void begin_anew() { calls_ = 0; }

  std::vector<Outcome> execute(std::span<const Command> batch) override {
    set();
    return store_->execute(batch);
  }
  std::optional<Result> peek(const command::Claim& claim) noexcept override { return store_->peek(claim); }
  std::optional<Record> find(const OperationId& id) override {
    set();
    return store_->find(id);
  }
  Page list(const Filter& filter, std::size_t limit, const std::string& cursor) override {
    set();
    return store_->list(filter, limit, cursor);
  }

 private:
  void set() {
    Parameters parameters;
    const auto wall =
        std::chrono::duration_cast<std::chrono::microseconds>(clocks_.wall().time_since_epoch());
    parameters.add(wall.count() + ++calls_);
    connection_.run("UPDATE public.test_clock SET us = $1", parameters);
  }

  std::unique_ptr<Store> store_;
  Clocks clocks_;
  Connection connection_;
  static inline std::int64_t calls_ = 0;  // of this test; the clock does not go back at a restart
};

class Postgres final : public Place {
 public:
  Postgres() {
    database().sql("TRUNCATE stet.operations, stet.leases");
    OnTestClock::begin_anew();
  }

  std::unique_ptr<Store> open(const Clocks& clocks) override {
    postgres::Options options;
    options.clocks = clocks;
    auto stores = postgres::open(database().url(), options);
    return std::make_unique<OnTestClock>(std::move(stores.front()), clocks, database().connect());
  }
};

class SealedPostgres final : public Place {
 public:
  std::unique_ptr<Store> open(const Clocks& clocks) override {
    return seal(inner_.open(clocks), {encryption_key("0123456789abcdef0123456789abcdef")});
  }

 private:
  Postgres inner_;
};

INSTANTIATE_TEST_SUITE_P(
    Postgres, StoreConformance,
    testing::Values(Subject{"plain", Restart::survives, [] { return std::make_unique<Postgres>(); },
                            LeaseClock::wall},
                    Subject{"sealed", Restart::survives, [] { return std::make_unique<SealedPostgres>(); },
                            LeaseClock::wall}),
    subject_name);

}  // namespace
}  // namespace stet::stores::conformance
