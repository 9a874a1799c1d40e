#include "stores/committer/committer.hpp"

#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <map>
#include <set>

#include "stores/commands_for_test.hpp"
#include "stores/memory/memory_store.hpp"

namespace stet::stores {
namespace {

using namespace std::chrono_literals;

// A store under the test's hand: it can be held, can fail, and remembers what it was given.
class Scripted final : public Store {
 public:
  std::vector<Outcome> execute(std::span<const Command> batch) override {
    const std::lock_guard lock(gate_);
    batches_.push_back(batch.size());
    if (fails_) throw StoreError(*fails_, "as told");
    return inner_->execute(batch);
  }
  std::optional<Result> peek(const command::Claim& claim) noexcept override {
    if (claim.key == "peeked") return result::Expired{};
    return std::nullopt;
  }
  std::optional<Record> find(const OperationId& id) override {
    if (fails_) throw StoreError(*fails_, "as told");
    return inner_->find(id);
  }
  Page list(const Filter& filter, std::size_t limit, const std::string& cursor) override {
    slices_.push_back(limit);
    return inner_->list(filter, limit, cursor);
  }

  std::mutex gate_;  // held by a test: execute waits
  std::optional<StoreFailure> fails_;
  std::vector<std::size_t> batches_;
  std::vector<std::size_t> slices_;

 private:
  std::unique_ptr<Store> inner_ = make_memory_store();
};

struct CommitterTest : testing::Test {
  Scripted* script = new Scripted;
  Committer committer{std::unique_ptr<Store>(script), {.max_batch = 8, .read_slice = 3}};

  std::future<Store::Outcome> submit(Command command) {
    auto promise = std::make_shared<std::promise<Store::Outcome>>();
    committer.submit(std::move(command), [promise](Store::Outcome o) { promise->set_value(std::move(o)); });
    return promise->get_future();
  }
  template <class R>
  static bool is(const Store::Outcome& outcome) {
    return as<R>(outcome) != nullptr;
  }
};

TEST_F(CommitterTest, gives_each_command_its_own_result) {
  const auto c = claim_of("k");
  EXPECT_TRUE(is<result::Claimed>(submit(c).get()));
  EXPECT_TRUE(is<result::InProgress>(submit(claim_of("k")).get()));
  EXPECT_TRUE(is<result::Ok>(submit(command::Complete{token_of(c), {}, {}}).get()));
  EXPECT_TRUE(is<result::Replay>(submit(claim_of("k")).get()));
}

TEST_F(CommitterTest, makes_one_batch_of_what_waits_and_none_larger_than_allowed) {
  std::vector<std::future<Store::Outcome>> waiting;
  {
    const std::lock_guard hold(script->gate_);
    waiting.push_back(submit(claim_of("first")));
    while (committer.stats().waiting != 0) std::this_thread::sleep_for(1ms);
    for (int i = 0; i < 20; ++i) waiting.push_back(submit(claim_of("k" + std::to_string(i))));
  }
  for (auto& w : waiting) EXPECT_TRUE(is<result::Claimed>(w.get()));
  committer.stop();
  EXPECT_EQ(script->batches_, (std::vector<std::size_t>{1, 8, 8, 4}));
  EXPECT_EQ(committer.stats().commands, 21U);
  EXPECT_EQ(committer.stats().batches, 4U);
}

TEST_F(CommitterTest, answers_a_claim_in_place_when_the_store_can_say_at_once) {
  const std::lock_guard hold(script->gate_);
  std::thread::id by;
  committer.submit(claim_of("peeked"), [&](const Store::Outcome& outcome) {
    by = std::this_thread::get_id();
    EXPECT_TRUE(is<result::Expired>(outcome));
  });
  EXPECT_EQ(by, std::this_thread::get_id());
  EXPECT_EQ(committer.stats().peeked, 1U);
}

TEST_F(CommitterTest, tells_every_command_of_a_failed_batch_what_happened) {
  std::vector<std::future<Store::Outcome>> waiting;
  {
    const std::lock_guard hold(script->gate_);
    script->fails_ = StoreFailure::unavailable;
    for (int i = 0; i < 5; ++i) waiting.push_back(submit(claim_of(std::to_string(i))));
  }
  const Store::Outcome wanted = Store::Failed{StoreFailure::unavailable, "as told"};
  for (auto& w : waiting) EXPECT_EQ(w.get(), wanted);
  {
    const std::lock_guard hold(script->gate_);
    script->fails_.reset();
  }
  EXPECT_TRUE(is<result::Claimed>(submit(claim_of("0")).get())) << "the committer goes on";
  EXPECT_GE(committer.stats().failed_batches, 1U);
}

TEST_F(CommitterTest, finds_records_and_passes_on_that_it_could_not) {
  const auto c = claim_of("k");
  submit(c).get();
  std::promise<Expected<std::optional<Record>, Store::Failed>> found;
  committer.find(OperationId::of("scope", "k"), [&](auto answer) { found.set_value(std::move(answer)); });
  EXPECT_EQ(found.get_future().get().value().value().token.nonce, c.nonce);
  {
    const std::lock_guard hold(script->gate_);
    script->fails_ = StoreFailure::corrupt;
  }
  std::promise<Expected<std::optional<Record>, Store::Failed>> failed;
  committer.find(OperationId::of("scope", "k"), [&](auto answer) { failed.set_value(std::move(answer)); });
  EXPECT_EQ(failed.get_future().get().error().kind, StoreFailure::corrupt);
}

TEST_F(CommitterTest, lists_in_slices_until_the_limit_is_reached) {
  for (int i = 0; i < 10; ++i) submit(claim_of("k" + std::to_string(i))).get();
  std::promise<Page> listed;
  committer.list({}, 8, "", [&](auto page) { listed.set_value(std::move(page.value())); });
  const Page page = listed.get_future().get();
  EXPECT_EQ(page.records.size(), 8U);
  std::promise<Page> rest;
  committer.list({}, 8, page.next, [&](auto more) { rest.set_value(std::move(more.value())); });
  const Page last = rest.get_future().get();
  EXPECT_EQ(last.records.size(), 2U);
  EXPECT_EQ(last.next, "");
  committer.stop();
  EXPECT_EQ(script->slices_, (std::vector<std::size_t>{3, 3, 2, 3}));
}

TEST_F(CommitterTest, passes_on_a_cursor_that_is_none) {
  std::promise<StoreFailure> failed;
  committer.list({}, 8, "no cursor", [&](auto page) { failed.set_value(page.error().kind); });
  EXPECT_EQ(failed.get_future().get(), StoreFailure::not_written);
}

TEST_F(CommitterTest, serves_claims_between_the_slices_of_a_list) {
  for (int i = 0; i < 30; ++i) submit(claim_of("k" + std::to_string(i))).get();
  std::promise<Page> listed;
  std::vector<std::future<Store::Outcome>> waiting;
  {
    const std::lock_guard hold(script->gate_);
    waiting.push_back(submit(claim_of("blocks")));
    while (committer.stats().waiting != 0) std::this_thread::sleep_for(1ms);
    committer.list({}, 1000, "", [&](auto page) { listed.set_value(std::move(page.value())); });
    for (int i = 0; i < 40; ++i) waiting.push_back(submit(claim_of("x" + std::to_string(i))));
  }
  for (auto& w : waiting) w.get();
  EXPECT_GE(listed.get_future().get().records.size(), 30U);
}

TEST_F(CommitterTest, finishes_what_is_queued_when_it_stops_and_refuses_the_rest) {
  std::vector<std::future<Store::Outcome>> waiting;
  std::thread stopping;
  {
    const std::lock_guard hold(script->gate_);
    for (int i = 0; i < 30; ++i) waiting.push_back(submit(claim_of("k" + std::to_string(i))));
    stopping = std::thread([this] { committer.stop(); });
  }
  for (auto& w : waiting) EXPECT_TRUE(is<result::Claimed>(w.get()));
  stopping.join();
  committer.stop();
  const auto late = submit(claim_of("late")).get();
  EXPECT_EQ(std::get<Store::Failed>(late).kind, StoreFailure::not_written);
  StoreFailure find = StoreFailure::full;
  StoreFailure list = StoreFailure::full;
  committer.find({}, [&](auto found) { find = found.error().kind; });
  committer.list({}, 1, "", [&](auto page) { list = page.error().kind; });
  EXPECT_EQ(find, StoreFailure::not_written);
  EXPECT_EQ(list, StoreFailure::not_written);
}

TEST_F(CommitterTest, lets_a_callback_submit_again) {
  std::promise<Store::Outcome> last;
  committer.submit(claim_of("k"), [&](const Store::Outcome&) {
    committer.submit(claim_of("k"), [&](Store::Outcome outcome) { last.set_value(std::move(outcome)); });
  });
  EXPECT_TRUE(is<result::InProgress>(last.get_future().get()));
}

TEST_F(CommitterTest, grants_each_key_once_to_many_threads) {
  constexpr int kThreads = 8;
  constexpr int kKeys = 300;
  std::atomic<int> granted{0};
  std::latch answered(kThreads * kKeys);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int k = 0; k < kKeys; ++k) {
        committer.submit(claim_of("k" + std::to_string(k)), [&](const Store::Outcome& outcome) {
          if (is<result::Claimed>(outcome)) granted.fetch_add(1);
          answered.count_down();
        });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  answered.wait();
  EXPECT_EQ(granted.load(), kKeys);
}

// Two connections to one database: small batches pass at once, or when `gate` is free; large ones hang until the end.
class TwoStores : public testing::Test {
 protected:
  struct Shared {
    std::mutex gate;  // held by the test: no batch passes
    std::mutex large;
    std::vector<std::size_t> batches;
  };
  class Connection final : public Store {
   public:
    explicit Connection(Shared& shared) : shared_(shared) {}
    std::vector<Outcome> execute(std::span<const Command> batch) override {
      if (batch.size() >= kLarge) const std::lock_guard hangs(shared_.large);
      const std::lock_guard passes(shared_.gate);
      shared_.batches.push_back(batch.size());
      return std::vector<Outcome>(batch.size(), Result(result::Ok{}));
    }
    std::optional<Result> peek(const command::Claim&) noexcept override { return std::nullopt; }
    std::optional<Record> find(const OperationId&) override { return std::nullopt; }
    Page list(const Filter&, std::size_t, const std::string&) override { return {}; }

   private:
    Shared& shared_;
  };
  static constexpr std::size_t kLarge = 4;

  static std::vector<std::unique_ptr<Store>> stores(Shared& shared) {
    std::vector<std::unique_ptr<Store>> both;
    for (int i = 0; i < 2; ++i) both.push_back(std::make_unique<Connection>(shared));
    return both;
  }
  std::future<Store::Outcome> submit() {
    auto promise = std::make_shared<std::promise<Store::Outcome>>();
    committer.submit(claim_of("k"), [promise](Store::Outcome o) { promise->set_value(std::move(o)); });
    return promise->get_future();
  }
  void until_taken() {
    while (committer.stats().waiting != 0) std::this_thread::sleep_for(1ms);
  }
  // One connection hangs with a large batch, the other one is free, and the last batch took so long.
  std::vector<std::future<Store::Outcome>> let_one_hang(std::chrono::milliseconds last_took) {
    std::vector<std::future<Store::Outcome>> hanging;
    const std::lock_guard hold(shared.gate);
    std::vector<std::future<Store::Outcome>> first;
    for (int i = 0; i < 2; ++i) {
      first.push_back(submit());
      until_taken();
    }
    for (std::size_t i = 0; i < kLarge; ++i) hanging.push_back(submit());
    std::this_thread::sleep_for(last_took);
    return hanging;
  }

  Shared shared;
  Committer committer{stores(shared), {.longest_gathering = 10s}};
};

TEST_F(TwoStores, begin_another_batch_beside_a_large_one_when_as_much_waits) {
  std::unique_lock hold(shared.large);
  auto hanging = let_one_hang(1s);
  until_taken();
  for (std::size_t i = 0; i < kLarge; ++i) hanging.push_back(submit());
  until_taken();
  hold.unlock();
  for (auto& one : hanging) one.get();
  committer.stop();
  EXPECT_EQ(shared.batches, (std::vector<std::size_t>{1, 1, 4, 4}));
}

TEST_F(TwoStores, keep_nobody_waiting_for_a_batch_that_hangs) {
  std::unique_lock hold(shared.large);
  auto hanging = let_one_hang(20ms);
  until_taken();
  EXPECT_EQ(submit().wait_for(30s), std::future_status::ready);
  hold.unlock();
  for (auto& one : hanging) one.get();
}

}  // namespace
}  // namespace stet::stores
