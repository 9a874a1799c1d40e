#pragma once
// What a route says about its operations, as far as the state machine is concerned.

#include <array>
#include <chrono>
#include <cstdint>

#include "stet/record.hpp"

namespace stet {

// What an upstream's status means for the record (http.md, "Recorded by default").
enum class StatusMeaning : std::uint8_t { record, release, unknown };

class StatusTable {
 public:
  // The defaults: 401 403 407 425 429 release; 408 502 503 504 unknown; everything else is recorded.
  StatusTable();
  // A single status (100…599) wins over its class ("5xx", given as 5), whatever the order of the calls.
  void set_status(int status, StatusMeaning);
  void set_class(int hundreds, StatusMeaning);
  StatusMeaning meaning(int status) const;

 private:
  enum class Rank : std::uint8_t { default_class, default_status, route_class, route_status };
  struct Cell {
    StatusMeaning meaning = StatusMeaning::record;
    Rank rank = Rank::default_class;
  };
  void put(int status, StatusMeaning, Rank);
  std::array<Cell, 600> cells_{};
};

enum class InProgressMode : std::uint8_t { conflict, wait, accept };
enum class OnStoreFailure : std::uint8_t { closed, open };
enum class UpstreamPromise : std::uint8_t {
  none,
  idempotent,  // deduplicates on our key for ≥ our retention
  joins,       // commits its rows only together with stet.complete (docs/joint_transaction.md)
};

struct Policy {
  Terms terms;
  milliseconds lease = std::chrono::seconds(30);
  InProgressMode in_progress = InProgressMode::conflict;
  milliseconds wait = std::chrono::seconds(10);                // how long InProgressMode::wait holds a caller
  milliseconds response_timeout = std::chrono::seconds(30);    // then the caller is told that it is still running
  milliseconds completion_timeout = std::chrono::minutes(10);  // then no late answer is waited for any more
  OnStoreFailure on_store_failure = OnStoreFailure::closed;
  UpstreamPromise promise = UpstreamPromise::none;
  StatusTable statuses;
};

}  // namespace stet
