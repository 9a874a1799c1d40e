// What operators and the status location read.

#include <algorithm>
#include <set>

#include "stores/conformance/subject.hpp"

namespace stet::stores::conformance {

using namespace std::chrono_literals;

TEST_P(StoreConformance, finds_a_record_by_its_id_alone) {
  const auto c = completed("k");
  const auto found = store().find(token(c).id());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->token, token(c));
  EXPECT_EQ(found->state, State::completed);
  EXPECT_EQ(found->answer, answer());
  EXPECT_EQ(found->expires_at, clocks_.wall() + 24h);
  EXPECT_EQ(found->lease_until, std::nullopt);
  EXPECT_EQ(store().find(OperationId::of("scope", "no such key")), std::nullopt);
  EXPECT_EQ(store().find(OperationId{}), std::nullopt);
}

TEST_P(StoreConformance, pages_through_everything_once_in_the_order_of_the_claims) {
  std::vector<std::string> keys;
  for (int i = 0; i < 57; ++i) {
    keys.push_back("k" + std::to_string(i));
    claimed(keys.back());
    clocks_.advance(1ms);
  }
  for (const std::size_t limit : {std::size_t{1}, std::size_t{7}, std::size_t{57}, std::size_t{1000}}) {
    std::vector<std::string> seen;
    for (const Record& r : list_all({}, limit)) seen.push_back(r.token.key);
    EXPECT_EQ(seen, keys) << limit;
  }
}

TEST_P(StoreConformance, lists_at_most_a_thousand_records_a_page) {
  std::vector<Command> batch;
  for (int i = 0; i < 1100; ++i) batch.emplace_back(claim("k" + std::to_string(i)));
  ASSERT_EQ(store().execute(batch).size(), batch.size());
  const Page first = store().list({}, 100'000, "");
  EXPECT_LE(first.records.size(), 1000U);
  EXPECT_FALSE(first.next.empty());
  EXPECT_EQ(list_all({}, 1000).size(), 1100U);
}

TEST_P(StoreConformance, filters_by_state_scope_key_and_age) {
  completed("done");
  unknown("lost");
  claimed("running");
  run<result::Claimed>(claim("running", "another scope"));
  const WallTime before = clocks_.wall() + 1h;
  clocks_.advance(2h);
  claimed("young");
  const auto keys = [&](const Filter& filter) {
    std::multiset<std::string> found;
    for (const Record& r : list_all(filter, 2)) found.insert(r.token.key);
    return found;
  };
  using Keys = std::multiset<std::string>;
  Filter filter;
  EXPECT_EQ(keys(filter), (Keys{"done", "lost", "running", "running", "young"}));
  filter.state = State::pending;
  EXPECT_EQ(keys(filter), (Keys{"running", "running", "young"}));
  filter.created_before = before;
  EXPECT_EQ(keys(filter), (Keys{"running", "running"}));
  filter.scope = "scope";
  EXPECT_EQ(keys(filter), Keys{"running"});
  filter.key = "running";
  EXPECT_EQ(keys(filter), Keys{"running"});
  filter.scope.reset();
  EXPECT_EQ(keys(filter), (Keys{"running", "running"}));
  filter.key = "Running";
  EXPECT_EQ(keys(filter), Keys{});
  EXPECT_EQ(keys({State::completed, {}, {}, {}}), Keys{"done"});
  EXPECT_EQ(keys({State::unknown, {}, {}, {}}), Keys{"lost"});
  EXPECT_EQ(keys({State::expired, {}, {}, {}}), Keys{});
}

TEST_P(StoreConformance, lists_the_status_of_an_answer_without_its_body) {
  completed("k");
  const auto records = list_all({}, 10);
  ASSERT_EQ(records.size(), 1U);
  ASSERT_TRUE(records.front().answer);
  EXPECT_EQ(records.front().answer->status, 201);
  EXPECT_EQ(records.front().answer->body, "");
}

TEST_P(StoreConformance, shows_when_the_lease_of_a_pending_record_ends) {
  claimed("k");
  EXPECT_EQ(record("k")->lease_until, clocks_.wall() + kLease);
  clocks_.advance(10s);
  EXPECT_EQ(record("k")->lease_until, clocks_.wall() + kLease - 10s);
  clocks_.advance(kLease);
  ASSERT_TRUE(record("k")->lease_until);
  EXPECT_LE(*record("k")->lease_until, clocks_.wall());
}

TEST_P(StoreConformance, goes_on_from_a_cursor_although_its_record_is_gone) {
  std::vector<command::Claim> claims;
  for (int i = 0; i < 10; ++i) claims.push_back(claimed("k" + std::to_string(i)));
  const Page first = store().list({}, 4, "");
  ASSERT_EQ(first.records.size(), 4U);
  for (int i = 2; i < 6; ++i) run<result::Ok>(command::Release{token(claims[static_cast<std::size_t>(i)])});
  const Page rest = store().list({}, 100, first.next);
  ASSERT_EQ(rest.records.size(), 4U);
  EXPECT_EQ(rest.records.front().token.key, "k6");
}

TEST_P(StoreConformance, refuses_a_cursor_that_it_never_gave) {
  claimed("k");
  for (const char* cursor : {"-1", "x", "1x", "99999999999999999999", " 1"}) {
    EXPECT_THROW(store().list({}, 10, cursor), StoreError) << cursor;
  }
}

}  // namespace stet::stores::conformance
