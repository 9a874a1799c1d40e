#include "gateway/gateway.hpp"

#include <algorithm>
#include <latch>
#include <thread>

#include "gateway/session.hpp"
#include "gateway/spawn.hpp"
#include "gateway/sweeper.hpp"

namespace stet::gateway {
namespace {

RunningOperations::Limits waiters(const config::Config& config) {
  return {config.limits.waiters_per_key, config.limits.waiters};
}

Task<void> drop_old_connections(Station& station) {
  Timer timer(station.worker.executor());
  for (;;) {
    timer.expires_after(std::chrono::seconds(1));
    co_await timer.async_wait(as_result);
    station.upstreams.drop_old(std::chrono::steady_clock::now());
  }
}

}  // namespace

Gateway::Gateway(std::shared_ptr<const config::Config> config, admin::Log& log, admin::Metrics& metrics,
                 stores::Committer& store)
    : shared_{.log = log,
              .metrics = metrics,
              .store = store,
              .running = RunningOperations(waiters(*config)),
              .bodies = BodyBudget(config->limits.buffered_bodies, metrics.process.buffered_bytes)} {
  const auto snapshot = std::make_shared<const Snapshot>(std::move(config), metrics);
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < cores; ++i) stations_.push_back(std::make_unique<Station>(shared_, snapshot));
}

Expected<std::unique_ptr<Gateway>, std::string> Gateway::open(std::shared_ptr<const config::Config> config,
                                                              admin::Log& log, admin::Metrics& metrics,
                                                              stores::Committer& store) {
  const config::Endpoint listen = config->listen;
  std::unique_ptr<Gateway> gateway;
  try {
    gateway.reset(new Gateway(std::move(config), log, metrics, store));
  } catch (const std::runtime_error& unusable) {
    return unexpected(std::string(unusable.what()));
  }
  auto listener = Listener::open(listen, gateway->stations_);
  if (!listener) return unexpected(std::move(listener.error()));
  gateway->listener_ = std::move(*listener);
  return gateway;
}

Gateway::~Gateway() { stop(); }

void Gateway::start() {
  for (const auto& station : stations_) {
    spawn(station->worker, drop_old_connections(*station));
    station->worker.start();
  }
  Station& first = *stations_.front();
  reconciler_ = std::make_unique<Reconciler>(first);
  spawn(first.worker, sweep_now_and_then(first));
  spawn(first.worker, reconciler_->run());
  listener_->start();
}

Expected<void, std::string> Gateway::reload(std::shared_ptr<const config::Config> config) {
  SnapshotPtr snapshot;
  try {
    snapshot = std::make_shared<const Snapshot>(config, shared_.metrics);
  } catch (const std::runtime_error& unusable) {
    return unexpected(std::string(unusable.what()));
  }
  shared_.running.set_limits(waiters(*config));
  shared_.bodies.set_limit(config->limits.buffered_bodies);
  // Once we say that it is in use, no worker begins a request with the old one.
  const auto all = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(stations_.size()));
  for (const auto& station : stations_) {
    station->worker.post([&station = *station, snapshot, all] {
      station.snapshot = snapshot;
      station.upstreams.use(snapshot->tls());
      all->count_down();
    });
  }
  all->wait();
  return {};
}

void Gateway::begin_drain() {
  shared_.draining.store(true);
  listener_->close();
  for (const auto& station : stations_) {
    station->worker.post([&station = *station] {
      station.worker.sessions().for_each([](Timed& session) { static_cast<Session&>(session).close_if_idle(); });
    });
  }
}

bool Gateway::drained() const { return still_running() == 0; }

void Gateway::stop() {
  for (const auto& station : stations_) station->worker.stop();
  for (const auto& station : stations_) station->worker.join();
}

}  // namespace stet::gateway
