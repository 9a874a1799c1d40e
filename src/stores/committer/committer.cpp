#include "stores/committer/committer.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "stores/listing.hpp"

namespace stet::stores {
namespace {

// A connection that fails fails fast, and would take more from the queue than those that serve.
constexpr std::chrono::milliseconds kRest{100};

std::vector<std::unique_ptr<Store>> only(std::unique_ptr<Store> store) {
  std::vector<std::unique_ptr<Store>> stores;
  stores.push_back(std::move(store));
  return stores;
}

Store::Failed closing() {
  return {StoreFailure::not_written, "the store is being closed"};
}

// What an exception out of a store means for the commands it was given.
Store::Failed failed_by(const std::exception& error) {
  const auto* known = dynamic_cast<const StoreError*>(&error);
  return {known != nullptr ? known->kind() : StoreFailure::unavailable, error.what()};
}

}  // namespace

Committer::Committer(std::unique_ptr<Store> store) : Committer(std::move(store), Options()) {}

Committer::Committer(std::unique_ptr<Store> store, Options options)
    : Committer(only(std::move(store)), options) {}

Committer::Committer(std::vector<std::unique_ptr<Store>> stores) : Committer(std::move(stores), Options()) {}

Committer::Committer(std::vector<std::unique_ptr<Store>> stores, Options options)
    : stores_(std::move(stores)), options_(options) {
  for (const auto& store : stores_) threads_.emplace_back([this, &store] { run(*store); });
}

Committer::~Committer() {
  stop();
}

void Committer::submit(Command command, Done done) {
  if (const auto* claim = std::get_if<command::Claim>(&command)) {
    if (auto answer = stores_.front()->peek(*claim)) {
      peeked_.fetch_add(1, std::memory_order_relaxed);
      done(*std::move(answer));
      return;
    }
  }
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      queue_.push_back({std::move(command), std::move(done)});
      wake_one();
      return;
    }
  }
  done(closing());
}

void Committer::find(const OperationId& id, Found found) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      readings_.emplace_back(Lookup{id, std::move(found)});
      wake_one();
      return;
    }
  }
  found(unexpected(closing()));
}

void Committer::list(Filter filter, std::size_t limit, std::string cursor, Listed listed) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      Page start;
      start.next = std::move(cursor);
      readings_.emplace_back(Listing{std::move(filter), std::clamp<std::size_t>(limit, 1, kMostListed),
                                     std::move(start), std::move(listed)});
      wake_one();
      return;
    }
  }
  listed(unexpected(closing()));
}

void Committer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    arrived_.notify_all();
    gathered_.notify_all();
    rested_.notify_all();
  }
  const std::lock_guard lock(joining_);
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

Committer::Stats Committer::stats() const {
  Stats stats;
  stats.commands = commands_.load(std::memory_order_relaxed);
  stats.batches = batches_.load(std::memory_order_relaxed);
  stats.peeked = peeked_.load(std::memory_order_relaxed);
  stats.failed_batches = failed_batches_.load(std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  stats.waiting = queue_.size();
  return stats;
}

// One batch, then one slice of reading: neither can keep the other waiting for long.
void Committer::run(Store& store) {
  std::vector<Waiting> batch;
  for (;;) {
    std::optional<Reading> reading;
    {
      std::unique_lock lock(mutex_);
      arrived_.wait(lock, [this] { return stopping_ || !queue_.empty() || !readings_.empty(); });
      if (queue_.empty() && readings_.empty()) return;
      gather(lock);
      take(batch);
      if (!readings_.empty()) {
        reading = std::move(readings_.front());
        readings_.pop_front();
      }
    }
    const Unit unit = batch.empty() ? Unit::done : commit(store, batch);
    if (reading) read(store, *std::move(reading));
    if (unit == Unit::failed) rest_if_others_serve();
  }
}

// Small batches cost a server nearly as much as large ones. So beside batches that are under way another one begins
// when it is as large as they are on average; or when one of those should be over by now.
bool Committer::has_gathered() const {
  return stopping_ || !readings_.empty() || queue_.size() * busy_ >= under_way_;
}

void Committer::wake_one() {
  if (gathering_ == 0) {
    arrived_.notify_one();
  } else if (has_gathered()) {
    gathered_.notify_one();
  }
}

void Committer::gather(std::unique_lock<std::mutex>& lock) {
  if (has_gathered()) return;
  ++gathering_;
  gathered_.wait_for(lock, last_took_, [this] { return has_gathered(); });
  --gathering_;
}

void Committer::take(std::vector<Waiting>& batch) {
  const std::size_t size = std::min(queue_.size(), options_.max_batch);
  const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(size);
  batch.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  if (!queue_.empty()) arrived_.notify_one();
  if (batch.empty()) return;  // another thread has taken it
  ++busy_;
  under_way_ += size;
}

void Committer::is_over(std::size_t size, std::chrono::steady_clock::duration took) {
  const std::lock_guard lock(mutex_);
  --busy_;
  under_way_ -= size;
  last_took_ = std::min<std::chrono::steady_clock::duration>(took, options_.longest_gathering);
  if (gathering_ > 0 && has_gathered()) gathered_.notify_one();
}

void Committer::rest_if_others_serve() {
  std::unique_lock lock(mutex_);
  if (resting_ + 1 >= stores_.size()) return;
  ++resting_;
  rested_.wait_for(lock, kRest, [this] { return stopping_; });
  --resting_;
}

Committer::Unit Committer::commit(Store& store, std::vector<Waiting>& batch) {
  Unit unit = Unit::done;
  std::vector<Command> commands;
  commands.reserve(batch.size());
  for (Waiting& waiting : batch) commands.push_back(std::move(waiting.command));
  std::vector<Store::Outcome> outcomes;
  const auto begin = std::chrono::steady_clock::now();
  try {
    outcomes = store.execute(commands);
    if (outcomes.size() != commands.size()) {
      throw StoreError(StoreFailure::unavailable, "the store has not answered every command");
    }
  } catch (const std::exception& error) {
    unit = Unit::failed;
    outcomes.assign(batch.size(), failed_by(error));
    failed_batches_.fetch_add(1, std::memory_order_relaxed);
  }
  is_over(batch.size(), std::chrono::steady_clock::now() - begin);
  batches_.fetch_add(1, std::memory_order_relaxed);
  commands_.fetch_add(batch.size(), std::memory_order_relaxed);
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i].done(std::move(outcomes[i]));
  batch.clear();
  return unit;
}

void Committer::read(Store& store, Reading reading) {
  if (auto* lookup = std::get_if<Lookup>(&reading)) {
    look_up(store, std::move(*lookup));
  } else {
    list_slice(store, std::get<Listing>(std::move(reading)));
  }
}

void Committer::look_up(Store& store, Lookup lookup) {
  Expected<std::optional<Record>, Store::Failed> answer = std::nullopt;
  try {
    answer = store.find(lookup.id);
  } catch (const std::exception& error) {
    answer = unexpected(failed_by(error));
  }
  lookup.found(std::move(answer));
}

void Committer::list_slice(Store& store, Listing listing) {
  try {
    Page slice = store.list(listing.filter, std::min(listing.wanted, options_.read_slice), listing.page.next);
    listing.wanted -= std::min(listing.wanted, slice.records.size());
    std::move(slice.records.begin(), slice.records.end(), std::back_inserter(listing.page.records));
    listing.page.next = std::move(slice.next);
  } catch (const std::exception& error) {
    listing.listed(unexpected(failed_by(error)));
    return;
  }
  if (listing.wanted == 0 || listing.page.next.empty()) {
    listing.listed(std::move(listing.page));
    return;
  }
  const std::lock_guard lock(mutex_);
  readings_.emplace_back(std::move(listing));
  wake_one();
}

}  // namespace stet::stores
