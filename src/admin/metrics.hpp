#pragma once
// Everything that Stet counts (docs/operating.md has the table). One Metrics lives as long as the process;
// counting is lock-free and from any thread. Only route() and text() take a lock: look a route's counters up
// when a configuration is loaded, not for each request.

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admin/instruments.hpp"
#include "stet/shown.hpp"
#include "stet/store.hpp"

namespace stet::admin {

inline constexpr std::size_t kOutcomes = static_cast<std::size_t>(Outcome::unprotected) + 1;
inline constexpr std::size_t kProblems = static_cast<std::size_t>(Problem::still_running) + 1;
inline constexpr std::size_t kStoreFailures = static_cast<std::size_t>(StoreFailure::incompatible) + 1;
inline constexpr std::size_t kCommands = std::variant_size_v<Command>;
inline constexpr std::size_t kResults = std::variant_size_v<Result>;

// Of one route, by its name in the configuration ("POST /charges", "defaults").
struct RouteMetrics {
  explicit RouteMetrics(std::string route_name) : name(std::move(route_name)) {}

  void answered(Outcome outcome) { by_outcome[static_cast<std::size_t>(outcome)].add(); }
  void refused(Problem problem) { by_problem[static_cast<std::size_t>(problem)].add(); }

  const std::string name;
  std::array<Counter, kOutcomes> by_outcome;  // keyed requests, by the Stet-Outcome that was sent
  std::array<Counter, kProblems> by_problem;  // problem answers of our own, by type
  Counter proxied;                      // requests that take no key here (reads, key = "off"), passed on
  Counter unprotected_writes;           // writes that could have had a key and had none, or none was kept
  Counter callers_gone;                 // the caller had hung up when its answer came
  DurationHistogram request_duration;   // keyed requests, from the head's last byte to the answer's
  DurationHistogram upstream_duration;  // from the first byte sent to the answer's last
};

// Of the store, counted by the threads that run it.
struct StoreMetrics {
  // One batch that ran: outcomes[i] belongs to commands[i].
  void batch(std::span<const Command>, std::span<const Store::Outcome>, std::chrono::nanoseconds commit);
  // A batch or a read that failed as a whole.
  void failed(StoreFailure kind) { errors[static_cast<std::size_t>(kind)].add(); }

  std::array<std::array<Counter, kResults>, kCommands> by_result;
  std::array<Counter, kStoreFailures> errors;
  Counter batches;
  BatchHistogram batch_size;
  DurationHistogram commit_duration;
  Counter peeked;   // replays answered from memory, without a batch
  Gauge queued;     // commands that wait for a batch
  Gauge reachable;  // 1 or 0
  Gauge unknown;    // operations that wait for somebody to settle them; counted up to 1,000, at a scrape
  Counter expired, removed;  // by the sweep
  Gauge sweep_halted;        // 1: the wall clock jumped, nothing is swept (protocol.md, rule 3)
  Counter failovers;    // another server than before, or a promoted one: what was acknowledged may be gone
  Counter lost_claims;  // an owner found its claim gone: lost by the store, or released by force
};

// Of connections, memory and the process.
struct ProcessMetrics {
  Gauge connections;  // of callers, open
  Counter connections_accepted;
  Counter connections_refused;  // over limits.connections
  Counter bad_requests;         // refused for their framing before they had a route
  Gauge upstream_connections;   // open, idle ones too
  Counter upstream_connects;    // connections made
  Counter upstream_connect_failures;
  Gauge in_flight;       // operations whose caller waits for the upstream
  Gauge detached;        // operations that run on after their caller was told so (still-running, 202)
  Gauge waiters;         // callers that wait for another request's operation
  Gauge buffered_bytes;  // of bodies held in memory
  Counter reloads, reloads_failed;
  Gauge draining;  // 1 or 0
};

class Metrics {
 public:
  Metrics();

  // The counters of a route; made at the first call, and kept (a reload goes on counting).
  RouteMetrics& route(std::string_view name);
  StoreMetrics store;
  ProcessMetrics process;

  // Lines that the log could not write (log.hpp), read when the text is made.
  void watch_dropped_lines(std::function<std::uint64_t()>);

  // Prometheus text exposition format 0.0.4.
  std::string text() const;

 private:
  mutable std::mutex mutex_;  // of routes_ (its shape) and dropped_lines_
  std::vector<std::unique_ptr<RouteMetrics>> routes_;
  std::function<std::uint64_t()> dropped_lines_;
  const std::chrono::system_clock::time_point started_;
};

}  // namespace stet::admin
