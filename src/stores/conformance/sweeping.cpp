// The end of a record: expired with a tombstone, then gone; and clocks that cannot be trusted.

#include "stores/conformance/subject.hpp"

namespace stet::stores::conformance {

using namespace std::chrono_literals;

TEST_P(StoreConformance, turns_completed_records_into_tombstones_and_those_into_nothing) {
  completed("k");
  clocks_.advance(24h - 1ms);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}), result::Swept{});
  clocks_.advance(1ms);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}), (result::Swept{1, 0, result::SweepClock::sane}));
  EXPECT_EQ(run<result::Swept>(command::Sweep{}), result::Swept{});
  run<result::Expired>(claim("k"));
  auto other = claim("k");
  other.fingerprint = fingerprint('b');
  run<result::Expired>(other);
  const auto tombstone = record("k");
  ASSERT_TRUE(tombstone);
  EXPECT_EQ(tombstone->state, State::expired);
  EXPECT_EQ(tombstone->answer, std::nullopt);
  EXPECT_EQ(tombstone->fingerprint, Fingerprint{});
  EXPECT_EQ(tombstone->expires_at, clocks_.wall() + 48h);

  clocks_.advance(48h - 1ms);
  run<result::Expired>(claim("k"));
  EXPECT_EQ(run<result::Swept>(command::Sweep{}), result::Swept{});
  clocks_.advance(1ms);
  run<result::Expired>(claim("k"));
  EXPECT_EQ(run<result::Swept>(command::Sweep{}), (result::Swept{0, 1, result::SweepClock::sane}));
  EXPECT_EQ(state("k"), "absent");
  EXPECT_EQ(run<result::Claimed>(claim("k")).attempt, 1U);
}

TEST_P(StoreConformance, leaves_no_tombstone_where_the_route_wants_none) {
  auto c = claim("k");
  c.terms.tombstone = 0ms;
  run<result::Claimed>(c);
  run<result::Ok>(command::Complete{token(c), answer(), std::nullopt});
  clocks_.advance(24h);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}), (result::Swept{1, 0, result::SweepClock::sane}));
  EXPECT_EQ(state("k"), "absent");
  run<result::Claimed>(claim("k"));
}

TEST_P(StoreConformance, keeps_for_ever_what_is_to_be_kept_for_ever) {
  auto c = claim("k");
  c.terms.retention = kForever;
  run<result::Claimed>(c);
  EXPECT_EQ(run<result::Ok>(command::Complete{token(c), answer(), std::nullopt}).expires_at, std::nullopt);
  auto d = claim("tombstone");
  d.terms.tombstone = kForever;
  run<result::Claimed>(d);
  run<result::Ok>(command::Complete{token(d), answer(), std::nullopt});
  clocks_.advance(24h * 3650);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}), (result::Swept{1, 0, result::SweepClock::sane}));
  clocks_.advance(24h * 3650);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}), result::Swept{});
  EXPECT_EQ(run<result::Replay>(claim("k")).answer, answer());
  run<result::Expired>(claim("tombstone"));
}

TEST_P(StoreConformance, sweeps_each_record_by_its_own_retention) {
  for (const int hours : {3, 1, 2}) {
    auto c = claim(std::to_string(hours));
    c.terms.retention = std::chrono::hours(hours);
    run<result::Claimed>(c);
    run<result::Ok>(command::Complete{token(c), answer(), std::nullopt});
  }
  for (int hour = 1; hour <= 3; ++hour) {
    clocks_.advance(1h);
    EXPECT_EQ(run<result::Swept>(command::Sweep{}).expired, 1U);
    for (int h = 1; h <= 3; ++h) EXPECT_EQ(state(std::to_string(h)), h <= hour ? "expired" : "completed");
  }
}

TEST_P(StoreConformance, is_not_kept_busy_by_an_open_record_that_is_to_be_kept_for_no_time) {
  auto c = claim("open");
  c.terms.retention = 0ms;
  run<result::Claimed>(c);
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(run<result::Swept>(command::Sweep{}), result::Swept{});
    clocks_.advance(1min);
  }
  run<result::Ok>(command::Complete{token(c), answer(), std::nullopt});
  clocks_.advance(1min);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}).expired, 1U);
}

// Pulsefy/Soter#944: one DELETE of everything locked the table.
TEST_P(StoreConformance, sweeps_no_more_rows_at_once_than_it_was_told) {
  for (int i = 0; i < 25; ++i) completed("k" + std::to_string(i));
  clocks_.advance(24h);
  std::vector<std::size_t> slices;
  for (int i = 0; i < 4; ++i) {
    const auto swept = run<result::Swept>(command::Sweep{10});
    slices.push_back(swept.expired);
    EXPECT_EQ(swept.more, swept.expired == 10) << "and says whether it is worth coming again at once";
  }
  EXPECT_EQ(slices, (std::vector<std::size_t>{10, 10, 5, 0}));
  clocks_.advance(48h);
  EXPECT_EQ(run<result::Swept>(command::Sweep{10}).removed, 10U);
  EXPECT_EQ(run<result::Swept>(command::Sweep{0}), result::Swept{});
  EXPECT_EQ(run<result::Swept>(command::Sweep{1000}).removed, 15U);
}

TEST_P(StoreConformance, drops_swept_answers_from_every_view) {
  completed("k");
  run<result::Replay>(claim("k"));
  clocks_.advance(24h);
  run<result::Swept>(command::Sweep{});
  EXPECT_FALSE(store().peek(claim("k")));
}

TEST_P(StoreConformance, fences_what_comes_after_the_sweep) {
  const auto c = completed("k");
  clocks_.advance(24h);
  run<result::Swept>(command::Sweep{});
  run<result::Fenced>(command::Complete{token(c), answer(), std::nullopt});
  clocks_.advance(48h);
  run<result::Swept>(command::Sweep{});
  run<result::Fenced>(command::Complete{token(c), answer(), std::nullopt});
  EXPECT_EQ(state("k"), "absent");
}

// protocol.md, rule 3.
TEST_P(StoreConformance, stops_sweeping_when_the_wall_clock_has_jumped_until_three_clean_passes) {
  completed("k");
  run<result::Swept>(command::Sweep{});
  clocks_.step_wall(24h * 365);
  const result::Swept stopped{0, 0, result::SweepClock::jumped, false};
  EXPECT_EQ(run<result::Swept>(command::Sweep{}), stopped);
  for (int clean = 1; clean <= 3; ++clean) {
    clocks_.advance(1min);
    EXPECT_EQ(run<result::Swept>(command::Sweep{}), stopped) << clean;
    run<result::Replay>(claim("k"));
  }
  clocks_.advance(1min);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}).expired, 1U);
}

TEST_P(StoreConformance, counts_clean_passes_anew_after_another_jump) {
  run<result::Swept>(command::Sweep{});
  for (const auto step : {milliseconds(2min), milliseconds(-2min)}) {
    clocks_.step_wall(step);
    for (int pass = 0; pass < 3; ++pass) {
      EXPECT_EQ(run<result::Swept>(command::Sweep{}).clock, result::SweepClock::jumped);
    }
  }
  EXPECT_EQ(run<result::Swept>(command::Sweep{}).clock, result::SweepClock::jumped);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}).clock, result::SweepClock::sane);
}

TEST_P(StoreConformance, sweeps_after_a_jump_when_an_operator_says_that_the_clock_is_right) {
  completed("k");
  run<result::Swept>(command::Sweep{});
  clocks_.step_wall(24h * 365);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}).clock, result::SweepClock::jumped);
  EXPECT_EQ(run<result::Swept>(command::Sweep{1000, command::Sweep::Clock::trusted}).expired, 1U);
  EXPECT_EQ(run<result::Swept>(command::Sweep{}).clock, result::SweepClock::sane);
}

TEST_P(StoreConformance, forgives_a_wall_clock_that_is_corrected_a_little) {
  run<result::Swept>(command::Sweep{});
  for (const auto step : {milliseconds(60s), milliseconds(-60s)}) {
    clocks_.step_wall(step);
    clocks_.advance(1h);
    EXPECT_EQ(run<result::Swept>(command::Sweep{}).clock, result::SweepClock::sane);
  }
}

}  // namespace stet::stores::conformance
