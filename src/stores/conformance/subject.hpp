#pragma once
// The conformance suite: what every engine behind include/stet/store.hpp must do. An engine's own test says
// how it is opened and instantiates StoreConformance:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, StoreConformance, testing::Values(Subject{…}), subject_name);
//
// Link the object library stet_conformance into it.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "stet/store.hpp"
#include "stores/clocks.hpp"

namespace stet::stores::conformance {

// Both clocks of an engine, in the test's hand.
class TestClocks {
 public:
  Clocks clocks();
  void advance(milliseconds by);    // time passes
  void step_wall(milliseconds by);  // somebody sets the clock
  WallTime wall() const { return wall_; }

 private:
  WallTime wall_{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1}};
  MonoTime mono_{std::chrono::hours(1)};
};

// Where one engine keeps its records: a file, a schema, nothing.
class Place {
 public:
  virtual ~Place() = default;
  virtual std::unique_ptr<Store> open(const Clocks& clocks) = 0;
};

enum class Restart : std::uint8_t { forgets, survives };

// By which clock a lease ends. One that runs on the wall clock of a store shared by several gateways ends
// early when that clock is set forward (and a policy deals with what may then run twice), and later when it
// is set back.
enum class LeaseClock : std::uint8_t { monotonic, wall };

struct Subject {
  std::string name;
  Restart restart = Restart::survives;
  std::function<std::unique_ptr<Place>()> make_place;
  LeaseClock lease_clock = LeaseClock::monotonic;
};
std::ostream& operator<<(std::ostream& out, const Subject& subject);
std::string subject_name(const testing::TestParamInfo<Subject>& info);

class StoreConformance : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override;

  Store& store() { return *store_; }
  // The process dies without a word and another one opens the same place.
  void crash_and_reopen();

  Store::Outcome outcome(const Command& command);
  // The result, which must be of this kind.
  template <class R>
  R run(const Command& command) {
    const Store::Outcome out = outcome(command);
    const auto* result = std::get_if<Result>(&out);
    const R* wanted = result != nullptr ? std::get_if<R>(result) : nullptr;
    EXPECT_NE(wanted, nullptr) << "the store answered " << describe(out);
    return wanted != nullptr ? *wanted : R{};
  }
  static std::string describe(const Store::Outcome& outcome);

  std::optional<Record> record(std::string_view key, std::string_view scope = "scope");
  std::string state(std::string_view key);  // "absent" when there is none
  std::vector<Record> list_all(const Filter& filter, std::size_t limit);

  // Claims with a new nonce each.
  static command::Claim claim(std::string key, std::string scope = "scope");
  static Token token(const command::Claim& claim, std::uint32_t attempt = 1);
  static Fingerprint fingerprint(char of);
  static Answer answer(std::string body = "{\"id\":1}");

  // Shorthand for what many tests begin with.
  command::Claim claimed(const std::string& key);
  command::Claim completed(const std::string& key);
  command::Claim unknown(const std::string& key);
  // "absent", "running", "lapsed", "given back", "unknown", "completed", "expired" or "taken over"; the first
  // claim.
  command::Claim bring_to(std::string_view wanted, const std::string& key);

  TestClocks clocks_;
  static constexpr milliseconds kLease = std::chrono::seconds(30);

 private:
  std::unique_ptr<Place> place_;
  std::unique_ptr<Store> store_;
};

}  // namespace stet::stores::conformance
