// STET_SEEDS=100000 for a long run; a failure names its seed, which repeats it exactly.
#include <gtest/gtest.h>

#include <cstdlib>

#include "world.hpp"

namespace stet::simulation {
namespace {

using namespace std::chrono_literals;

std::uint64_t seeds() {
  const char* wanted = std::getenv("STET_SEEDS");
  return wanted == nullptr ? 1500 : std::strtoull(wanted, nullptr, 10);
}

Policy policy(OnUnknown on_unknown, UpstreamPromise promise = UpstreamPromise::none) {
  Policy policy;
  policy.lease = 3s;
  policy.response_timeout = 2s;
  policy.completion_timeout = 60s;
  policy.terms.on_unknown = on_unknown;
  policy.promise = promise;
  return policy;
}

void simulate(const Policy& base, Ledger::Upstream upstream, const Chances& chances = {}) {
  Counts sum;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    Policy policy = base;
    policy.in_progress = seed % 2 == 0 ? InProgressMode::wait : InProgressMode::conflict;
    World world(seed, policy, upstream, chances);
    for (const std::string& breach : world.run(3)) ADD_FAILURE() << "seed " << seed << ": " << breach;
    if (::testing::Test::HasFailure()) return;
    const Counts& c = world.counts();
    sum.replays += c.replays, sum.unknowns += c.unknowns, sum.crashes += c.crashes, sum.fenced += c.fenced;
    sum.reconciled += c.reconciled, sum.zombies += c.zombies, sum.refused += c.refused;
    sum.not_executed += c.not_executed, sum.saved += c.saved;
    sum.take_overs += c.take_overs, sum.waits += c.waits, sum.late += c.late, sum.mismatches += c.mismatches;
  }
  // A run in which nothing of this happened has shown nothing.
  EXPECT_GT(sum.replays, 0u);
  EXPECT_GT(sum.unknowns, 0u);
  EXPECT_GT(sum.crashes, 0u);
  EXPECT_GT(sum.fenced, 0u);
  EXPECT_GT(sum.waits, 0u);
  EXPECT_GT(sum.late, 0u);
  EXPECT_GT(sum.mismatches, 0u);
  if (base.terms.on_unknown != OnUnknown::fail) EXPECT_GT(sum.take_overs, 0u);
  if (base.terms.on_unknown != OnUnknown::joined) return;
  EXPECT_GT(sum.reconciled, 0u);
  EXPECT_GT(sum.zombies, 0u);
  EXPECT_GT(sum.refused, 0u);
  EXPECT_GT(sum.not_executed, 0u);
  EXPECT_GT(sum.saved, 0u);
}

TEST(Simulation, nothing_happens_twice_when_unknown_stays_unknown) {
  simulate(policy(OnUnknown::fail), Ledger::Upstream::naive);
}

TEST(Simulation, nothing_happens_twice_when_the_upstream_drops_repeats) {
  simulate(policy(OnUnknown::retry, UpstreamPromise::idempotent), Ledger::Upstream::deduplicates);
}

TEST(Simulation, nothing_happens_twice_when_the_upstream_is_asked_first) {
  simulate(policy(OnUnknown::ask), Ledger::Upstream::naive);
}

TEST(Simulation, an_effect_and_its_answer_are_one_when_the_upstream_joins) {
  simulate(policy(OnUnknown::joined, UpstreamPromise::joins), Ledger::Upstream::joins);
}

// Replies get lost, and what was taken for lost arrives late: the worst that a store can do to a fence.
TEST(Simulation, a_fence_holds_when_the_store_is_as_bad_as_the_network) {
  Chances chances;
  chances.store_fails = 30;
  chances.answer_lost = 30;
  chances.request_lost = 20;
  chances.proxy_gives_up = 40;
  chances.slow = 40;
  simulate(policy(OnUnknown::joined, UpstreamPromise::joins), Ledger::Upstream::joins, chances);
}

TEST(Simulation, the_same_seed_is_the_same_run) {
  const auto run = [] {
    World world(42, policy(OnUnknown::fail), Ledger::Upstream::naive);
    world.run(5);
    return std::tuple(world.counts().replays, world.counts().unknowns, world.counts().fenced,
                      world.counts().waits);
  };
  EXPECT_EQ(run(), run());
}

// The referee must see a real fault: an upstream that drops nothing, behind a route that says it does.
TEST(Simulation, a_broken_promise_is_noticed) {
  std::size_t breaches = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    World world(seed, policy(OnUnknown::retry, UpstreamPromise::idempotent), Ledger::Upstream::naive);
    breaches += world.run(3).size();
  }
  EXPECT_GT(breaches, 0u);
}

}  // namespace
}  // namespace stet::simulation
