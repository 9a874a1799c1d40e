#include "gateway/serve.hpp"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>

#include <ctime>

#include "admin/admin_server.hpp"
#include "admin/counted_store.hpp"
#include "admin/supervisor.hpp"
#include "gateway/gateway.hpp"
#include "stores/open.hpp"

namespace stet::gateway {
namespace {

using admin::Level;

constexpr int kEnvironmentFailed = 3;
constexpr std::chrono::milliseconds kDrainLook{10};

sigset_t our_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

// Every caller and every upstream connection is a descriptor.
void take_all_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// Bodies and answers come and go by the megabyte a second, made by one thread and freed by another. Giving each of
// those pages back to the system, and asking for it again, was seen as hundreds of mprotect calls a second.
void keep_freed_memory() {
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
  ::mallopt(M_TOP_PAD, 1 << 20);
}

stores::OpenOptions open_options(const config::Config& config, admin::Log& log, admin::StoreMetrics& metrics) {
  stores::OpenOptions options;
  options.durability = config.store_options.durability == config::Durability::full ? stores::Durability::full
                                                                                  : stores::Durability::os;
  options.free_space_floor = config.store_options.free_space_floor;
  options.ballast = config.store_options.ballast;
  options.encryption_key = config.store_options.encryption_key;
  options.pool = config.store_options.pool;
  options.notice = [&log](std::string_view line) { log.event(Level::info, "store", line); };
  options.alarm = [&log, &metrics](std::string_view line) {
    metrics.failovers.add();
    log.event(Level::error, "store-alarm", line);
  };
  return options;
}

class Service {
 public:
  Service(std::shared_ptr<const config::Config> config, const Reload& reload)
      : config_(std::move(config)), reload_(reload), log_(config_->log_format, config_->log_keys) {}

  int run() {
    metrics_.watch_dropped_lines([this] { return log_.dropped(); });
    if (const auto failed = open()) {
      log_.event(Level::error, "start-failed", *failed);
      log_.flush();
      return kEnvironmentFailed;
    }
    gateway_->start();
    say_ready();
    for (;;) {
      const int signal = wait(nullptr);
      if (signal != SIGHUP) break;
      reload();
    }
    drain();
    gateway_->stop();
    admin_->stop();
    committer_->stop();
    log_.event(Level::info, "stopped", "the process ends");
    log_.flush();
    return 0;
  }

 private:
  // The error is one sentence for the log.
  std::optional<std::string> open() {
    try {
      std::vector<std::unique_ptr<Store>> counted;
      for (auto& store : stores::open_stores(config_->store, open_options(*config_, log_, metrics_.store)))
        counted.push_back(std::make_unique<admin::CountedStore>(std::move(store), metrics_.store));
      committer_ = std::make_unique<stores::Committer>(std::move(counted));
    } catch (const StoreError& error) {
      return std::string("store: ") + error.what();
    }
    auto gateway = Gateway::open(config_, log_, metrics_, *committer_);
    if (!gateway) return gateway.error();
    gateway_ = std::move(*gateway);
    auto admin = admin::AdminServer::open(config_, {*committer_, metrics_, log_});
    if (!admin) return admin.error();
    admin_ = std::move(*admin);
    return std::nullopt;
  }

  void say_ready() {
    std::string upstreams;
    for (const config::UpstreamUrl& url : config_->upstream) upstreams.append(upstreams.empty() ? "" : " ").append(url.text);
    const std::string listen = gateway_->address();
    const std::string admin = admin_->address();
    log_.event(Level::info, "ready", "http://" + listen + " in front of " + upstreams,
               {{"listen", listen}, {"admin", admin}, {"upstream", upstreams}});
    log_.flush();
    admin::notify_supervisor("READY=1");
  }

  void reload() {
    admin::notify_supervisor("RELOADING=1");
    auto loaded = reload_();
    Expected<void, std::string> taken = loaded ? gateway_->reload(*loaded) : unexpected(loaded.error());
    if (!taken) {
      metrics_.process.reloads_failed.add();
      log_.event(Level::error, "reload-failed", "the old configuration stays: " + taken.error());
    } else {
      metrics_.process.reloads.add();
      say_what_waits(**loaded);
      config_ = std::move(*loaded);
      log_.set_keys(config_->log_keys);
      admin_->use(config_);
      log_.event(Level::info, "reload", "the new configuration is in use");
    }
    admin::notify_supervisor("READY=1");
  }

  void say_what_waits(const config::Config& loaded) {
    const auto differs = [](const config::Endpoint& a, const config::Endpoint& b) {
      return a.host != b.host || a.port != b.port;
    };
    std::string keys;
    const auto add = [&keys](std::string_view key) { keys.append(keys.empty() ? "" : ", ").append(key); };
    if (differs(loaded.listen, config_->listen)) add("listen");
    if (differs(loaded.admin, config_->admin)) add("admin");
    if (loaded.store != config_->store) add("store");
    if (loaded.store_options != config_->store_options) add("store_options");
    if (loaded.log_format != config_->log_format) add("log.format");
    if (keys.empty()) return;
    log_.event(Level::warning, "reload-needs-restart", "changed, and used only after a restart: " + keys);
  }

  void drain() {
    admin::notify_supervisor("STOPPING=1");
    log_.event(Level::info, "drain", "accepting no more; finishing what runs");
    metrics_.process.draining.set(1);
    admin_->set_draining();
    gateway_->begin_drain();
    const auto deadline = std::chrono::steady_clock::now() + config_->drain_time();
    const timespec look{0, std::chrono::nanoseconds(kDrainLook).count()};
    while (!gateway_->drained() && std::chrono::steady_clock::now() < deadline) {
      const int again = wait(&look);
      if (again == SIGTERM || again == SIGINT) break;  // asked twice: at once
    }
    if (!gateway_->drained()) {
      log_.event(Level::warning, "drain-ended", "the time is over; what still runs is left to the next start",
                 {{"running", static_cast<std::int64_t>(gateway_->still_running())}});
    }
  }

  // The next of our signals; 0: none came in time.
  static int wait(const timespec* at_most) {
    const sigset_t set = our_signals();
    for (;;) {
      const int signal = at_most != nullptr ? ::sigtimedwait(&set, nullptr, at_most) : ::sigwaitinfo(&set, nullptr);
      if (signal > 0) return signal;
      if (errno == EAGAIN) return 0;
    }
  }

  std::shared_ptr<const config::Config> config_;
  const Reload& reload_;
  admin::Log log_;
  admin::Metrics metrics_;
  std::unique_ptr<stores::Committer> committer_;
  std::unique_ptr<Gateway> gateway_;
  std::unique_ptr<admin::AdminServer> admin_;
};

}  // namespace

int serve(std::shared_ptr<const config::Config> config, const Reload& reload) {
  ::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = our_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  take_all_descriptors();
  keep_freed_memory();
  Service service(std::move(config), reload);
  return service.run();
}

}  // namespace stet::gateway
