#pragma once
// Which operations some request of this process runs at the moment, and who waits for their end. Any thread.
//
// Of those who wait for an operation that another gateway runs, one asks the store again and again, and the others wait
// for what it finds: a crowd at one key is one question at a time.

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "stet/exchange.hpp"

namespace stet::gateway {

class RunningOperations {
 public:
  enum class Part : std::uint8_t { none, poll };  // poll: it is the waiter's turn to ask the store, until stop_polling()
  struct News {
    OwnerNews news;
    Part part = Part::none;
  };
  // Tells a waiter how it ended. Called once, on the thread that ended the operation: it only passes the news on.
  using Tell = std::function<void(News)>;
  using Ticket = std::uint64_t;
  struct Poll {};  // nobody here runs it or asks for it: the caller does, until stop_polling()
  struct TooMany {};
  using Waiting = std::variant<Ticket, Poll, TooMany>;

  struct Limits {
    std::size_t per_operation = 64;
    std::size_t in_all = 1024;
  };
  // An operation as one request knows it: a key that was freed may be in use for another request by now.
  struct Of {
    OperationId id;
    Digest request;  // of its fingerprint
  };
  explicit RunningOperations(Limits limits) { set_limits(limits); }
  void set_limits(Limits);  // a reload; those who wait already stay

  // An operation taken over while its old owner still listens is here twice: each begin has its end.
  void begin(const OperationId&);
  // `last_word`: what the owner's caller was shown at the end; none when that no longer says how it ended. Those who
  // wait for another request are told nothing of it.
  void end(const Of&, std::optional<Shown> last_word);
  RunsHere runs(const OperationId&) const;

  enum class As : std::uint8_t { waiter, poller };  // poller: who asks already, and has seen that it still runs
  Waiting wait(const Of&, Tell, As = As::waiter);
  void leave(const OperationId&, Ticket);  // does nothing for one who has been told
  // seen: something else than "in progress", so all who wait ask for themselves. left: another takes the part over.
  enum class Polled : std::uint8_t { seen, left };
  void stop_polling(const OperationId&, Polled);
  std::size_t waiters() const { return waiters_.load(std::memory_order_relaxed); }

 private:
  struct Hash {
    std::size_t operator()(const OperationId& id) const {  // the id is a hash already
      std::size_t h;
      std::memcpy(&h, id.bytes.data() + 8, sizeof h);
      return h;
    }
  };
  struct Waiter {
    Ticket ticket;
    Digest request;
    Tell tell;
  };
  struct Running {
    std::size_t owners = 0;
    std::size_t pollers = 0;  // one at the most
    std::vector<Waiter> waiters;
    bool over() const { return owners == 0 && pollers == 0 && waiters.empty(); }
  };
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<OperationId, Running, Hash> running;
  };
  bool one_more();
  Shard& shard(const OperationId& id) { return shards_[id.bytes[0] % shards_.size()]; }
  const Shard& shard(const OperationId& id) const { return shards_[id.bytes[0] % shards_.size()]; }

  std::array<Shard, 16> shards_;
  std::atomic<Ticket> next_ticket_{1};
  std::atomic<std::size_t> waiters_{0};  // pollers among them
  std::atomic<std::size_t> per_operation_{};
  std::atomic<std::size_t> in_all_{};
};

}  // namespace stet::gateway
