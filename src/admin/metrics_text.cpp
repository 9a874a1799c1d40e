// Metrics::text(): the names of docs/operating.md. Somebody's alert relies on each: add, never rename.

#include "admin/exposition.hpp"
#include "admin/metrics.hpp"
#include "admin/process_usage.hpp"

namespace stet::admin {
namespace {

using Type = Exposition::Type;
using Routes = std::vector<std::unique_ptr<RouteMetrics>>;
constexpr std::uint64_t kMicroseconds = 1'000'000;

// In the order of the variants `Command` and `Result`.
constexpr std::array<std::string_view, kCommands> kCommandNames{
    "claim",     "take_over",      "renew",   "complete", "release",
    "give_back", "settle_unknown", "advance", "settle",   "sweep"};
constexpr std::array<std::string_view, kResults> kResultNames{
    "claimed", "replay", "in_progress", "mismatch", "lapsed", "unknown", "expired", "ok", "fenced", "swept"};
constexpr std::array<std::string_view, kStoreFailures> kFailureNames{"unavailable", "not_written", "full",
                                                                     "corrupt", "incompatible"};

// The only results that a command can have (protocol.md): the others would be series that stay at zero.
bool possible(std::string_view command, std::string_view result) {
  if (command == "sweep") return result == "swept";
  if (command == "claim") return result != "ok" && result != "fenced" && result != "swept";
  if (command == "take_over") return result == "claimed" || result == "fenced";
  return result == "ok" || result == "fenced";
}

void counters(Exposition& out, const Routes& routes, std::string_view name, std::string_view help,
              Counter RouteMetrics::* member) {
  out.begin(name, Type::counter, help);
  for (const auto& route : routes) out.sample(((*route).*member).value(), {{"route", route->name}});
}

void durations(Exposition& out, const Routes& routes, std::string_view name, std::string_view help,
               DurationHistogram RouteMetrics::* member) {
  out.begin(name, Type::histogram, help);
  for (const auto& route : routes) out.histogram((*route).*member, kMicroseconds, {{"route", route->name}});
}

void one(Exposition& out, std::string_view name, std::string_view help, const Counter& counter) {
  out.begin(name, Type::counter, help);
  out.sample(counter.value());
}

void one(Exposition& out, std::string_view name, std::string_view help, const Gauge& gauge) {
  out.begin(name, Type::gauge, help);
  out.sample(gauge.value());
}

void write_routes(Exposition& out, const Routes& routes) {
  out.begin("stet_requests_total", Type::counter,
            "Keyed requests answered, by the Stet-Outcome that was sent.");
  for (const auto& route : routes) {
    for (std::size_t i = 0; i < kOutcomes; ++i) {
      out.sample(route->by_outcome[i].value(),
                 {{"route", route->name}, {"outcome", name(static_cast<Outcome>(i))}});
    }
  }
  out.begin("stet_problems_total", Type::counter,
            "Answers that were problems of the gateway's own, by type.");
  for (const auto& route : routes) {
    for (std::size_t i = 0; i < kProblems; ++i) {
      out.sample(route->by_problem[i].value(),
                 {{"route", route->name}, {"problem", name(static_cast<Problem>(i))}});
    }
  }
  counters(out, routes, "stet_proxied_total", "Requests that take no key, passed on as they are.",
           &RouteMetrics::proxied);
  counters(out, routes, "stet_unprotected_writes_total", "Writes that went upstream without protection.",
           &RouteMetrics::unprotected_writes);
  counters(out, routes, "stet_callers_gone_total", "Callers that had hung up when their answer came.",
           &RouteMetrics::callers_gone);
  durations(out, routes, "stet_request_duration_seconds",
            "Keyed requests, from the head read to the answer written.", &RouteMetrics::request_duration);
  durations(out, routes, "stet_upstream_duration_seconds",
            "The upstream, from the first byte sent to its last.", &RouteMetrics::upstream_duration);
}

void write_store(Exposition& out, const StoreMetrics& store) {
  out.begin("stet_store_commands_total", Type::counter, "Commands that the store has answered, by result.");
  for (std::size_t c = 0; c < kCommands; ++c) {
    for (std::size_t r = 0; r < kResults; ++r) {
      if (!possible(kCommandNames[c], kResultNames[r])) continue;
      out.sample(store.by_result[c][r].value(), {{"command", kCommandNames[c]}, {"result", kResultNames[r]}});
    }
  }
  out.begin("stet_store_errors_total", Type::counter, "Failed commands and failed batches, by kind.");
  for (std::size_t i = 0; i < kStoreFailures; ++i)
    out.sample(store.errors[i].value(), {{"kind", kFailureNames[i]}});
  one(out, "stet_store_batches_total", "Durable units written.", store.batches);
  out.begin("stet_store_batch_commands", Type::histogram, "Commands in one durable unit.");
  out.histogram(store.batch_size, 1);
  out.begin("stet_store_commit_duration_seconds", Type::histogram, "Time of one durable unit.");
  out.histogram(store.commit_duration, kMicroseconds);
  one(out, "stet_store_peeked_total", "Replays answered without a durable unit.", store.peeked);
  one(out, "stet_store_queued", "Commands that wait for a durable unit.", store.queued);
  one(out, "stet_store_reachable", "1 while the store answers.", store.reachable);
  one(out, "stet_operations_unknown", "Operations whose outcome is unknown, counted up to 1000.",
      store.unknown);
  one(out, "stet_sweep_expired_total", "Completed records that the sweep turned into tombstones.",
      store.expired);
  one(out, "stet_sweep_removed_total", "Tombstones that the sweep removed.", store.removed);
  one(out, "stet_sweep_halted", "1 while the sweep has stopped because the wall clock jumped.",
      store.sweep_halted);
  one(out, "stet_store_failovers_total",
      "Reconnections to another server, or to one that was promoted meanwhile.", store.failovers);
  one(out, "stet_lost_claims_total",
      "Operations whose claim was gone: lost by the store, or released by force.", store.lost_claims);
}

void write_process(Exposition& out, const ProcessMetrics& process) {
  one(out, "stet_connections", "Open connections of callers.", process.connections);
  one(out, "stet_connections_accepted_total", "Connections accepted.", process.connections_accepted);
  one(out, "stet_connections_refused_total", "Connections over the limit.", process.connections_refused);
  one(out, "stet_bad_requests_total", "Requests refused for their framing.", process.bad_requests);
  one(out, "stet_upstream_connections", "Open connections to upstreams, idle ones too.",
      process.upstream_connections);
  one(out, "stet_upstream_connects_total", "Connections made to upstreams.", process.upstream_connects);
  one(out, "stet_upstream_connect_failures_total", "Connections to upstreams that failed.",
      process.upstream_connect_failures);
  one(out, "stet_operations_in_flight", "Operations whose caller waits for the upstream.", process.in_flight);
  one(out, "stet_operations_detached", "Operations that run on after their caller was told so.",
      process.detached);
  one(out, "stet_waiters", "Callers that wait for another request's operation.", process.waiters);
  one(out, "stet_buffered_bytes", "Bytes of bodies held in memory.", process.buffered_bytes);
  one(out, "stet_reloads_total", "Configurations taken over.", process.reloads);
  one(out, "stet_reloads_failed_total", "Configurations refused; the one before stays.",
      process.reloads_failed);
  one(out, "stet_draining", "1 while the gateway drains.", process.draining);
}

void write_usage(Exposition& out, std::chrono::system_clock::time_point started) {
  const ProcessUsage usage = process_usage();
  out.begin("stet_start_time_seconds", Type::gauge, "When the process started, in seconds since 1970.");
  out.sample(std::chrono::duration<double>(started.time_since_epoch()).count());
  out.begin("stet_cpu_seconds_total", Type::counter, "Processor time used.");
  out.sample(usage.cpu_seconds);
  out.begin("stet_resident_memory_bytes", Type::gauge, "Memory in use.");
  out.sample(usage.resident_bytes);
  out.begin("stet_open_files", Type::gauge, "File descriptors in use.");
  out.sample(usage.open_files);
  out.begin("stet_open_files_limit", Type::gauge, "File descriptors allowed.");
  out.sample(usage.open_files_limit);
}

}  // namespace

std::string Metrics::text() const {
  const std::scoped_lock lock(mutex_);
  Exposition out;
  out.begin("stet_build_info", Type::gauge, "The version that runs.");
  out.sample(std::uint64_t{1}, {{"version", STET_VERSION}});
  write_routes(out, routes_);
  write_store(out, store);
  write_process(out, process);
  if (dropped_lines_) {
    out.begin("stet_log_dropped_lines_total", Type::counter, "Log lines that could not be written.");
    out.sample(dropped_lines_());
  }
  write_usage(out, started_);
  return out.take();
}

}  // namespace stet::admin
