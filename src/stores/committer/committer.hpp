#pragma once
// Group commit: many threads in front of one store that is used by one thread, or of several stores on the
// same records (connections to one database), each used by a thread of its own.
//
// Whatever waits when a store thread is free becomes one batch, so one fsync serves many callers. Nobody waits for
// others to arrive, but beside batches that are under way, and then no longer than such a batch takes. Operators' reads
// run between batches, a slice at a time.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stet/store.hpp"

namespace stet::stores {

class Committer {
 public:
  struct Options {
    std::size_t max_batch = 256;   // commands; bounds how long the last of a batch waits
    std::size_t read_slice = 200;  // records a list reads between two batches
    // A batch waits no longer for others beside those that are under way: a store that hangs holds up nobody.
    std::chrono::milliseconds longest_gathering{10};
  };
  struct Stats {  // since the start
    std::uint64_t commands = 0;
    std::uint64_t batches = 0;
    std::uint64_t peeked = 0;          // claims answered without the store thread
    std::uint64_t failed_batches = 0;  // units that failed as a whole
    std::size_t waiting = 0;           // now, in the queue
  };

  using Done = std::function<void(Store::Outcome)>;
  using Found = std::function<void(Expected<std::optional<Record>, Store::Failed>)>;
  using Listed = std::function<void(Expected<Page, Store::Failed>)>;

  explicit Committer(std::unique_ptr<Store> store, Options options);
  explicit Committer(std::unique_ptr<Store> store);
  explicit Committer(std::vector<std::unique_ptr<Store>> stores, Options options);  // one at least
  explicit Committer(std::vector<std::unique_ptr<Store>> stores);
  ~Committer();  // stop()
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // From any thread. `done` is called exactly once, must not throw and must not block: on a store thread
  // when the command is as durable as the engine promises, or on the calling thread before submit returns
  // when a claim could be answered by `peek` or the committer has stopped. A unit that failed as a whole is a
  // Failed for each of its commands, with the StoreError's kind: `unavailable` means in doubt (protocol.md,
  // rule 5).
  void submit(Command command, Done done);

  // From any thread; answered on the store thread (or at once, after stop). `list` gives up to `limit`
  // records (at most 1,000) and the cursor of the rest.
  void find(const OperationId& id, Found found);
  void list(Filter filter, std::size_t limit, std::string cursor, Listed listed);

  // Finishes what is queued, then joins the store threads. What comes later is refused as `not_written`.
  // Not from a callback. Idempotent.
  void stop();

  Stats stats() const;

 private:
  struct Waiting {
    Command command;
    Done done;
  };
  struct Lookup {
    OperationId id;
    Found found;
  };
  struct Listing {
    Filter filter;
    std::size_t wanted;
    Page page;  // so far; `next` is where it goes on
    Listed listed;
  };
  using Reading = std::variant<Lookup, Listing>;

  enum class Unit : std::uint8_t { done, failed };

  void run(Store& store);
  Unit commit(Store& store, std::vector<Waiting>& batch);
  void is_over(std::size_t size, std::chrono::steady_clock::duration took);
  // Holding the mutex.
  void wake_one();
  bool has_gathered() const;
  void gather(std::unique_lock<std::mutex>& lock);
  void take(std::vector<Waiting>& batch);
  void rest_if_others_serve();
  void read(Store& store, Reading reading);
  void look_up(Store& store, Lookup lookup);
  void list_slice(Store& store, Listing listing);

  const std::vector<std::unique_ptr<Store>> stores_;
  const Options options_;

  mutable std::mutex mutex_;  // guards all until the counters
  std::condition_variable arrived_;
  std::condition_variable gathered_;
  std::size_t gathering_ = 0;  // store threads that wait for their batch to grow
  std::size_t busy_ = 0;       // store threads with a batch under way
  std::size_t under_way_ = 0;  // commands in those batches
  std::chrono::steady_clock::duration last_took_{0};
  std::condition_variable rested_;
  std::size_t resting_ = 0;  // store threads whose last unit failed
  std::deque<Waiting> queue_;
  std::deque<Reading> readings_;
  bool stopping_ = false;

  std::atomic<std::uint64_t> commands_{0};
  std::atomic<std::uint64_t> batches_{0};
  std::atomic<std::uint64_t> peeked_{0};
  std::atomic<std::uint64_t> failed_batches_{0};

  std::mutex joining_;
  std::vector<std::thread> threads_;
};

}  // namespace stet::stores
