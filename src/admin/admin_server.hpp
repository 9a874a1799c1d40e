#pragma once
// The admin port: health, metrics and the operators' API (docs/operating.md), on a thread of its own.
//
//   auto admin = AdminServer::open(config, {committer, metrics, log});
//   log.event(Level::info, "ready", …, {{"admin", (*admin)->address()}});
//
// End it before the committer.

#include <memory>
#include <string>

#include "admin/log.hpp"
#include "admin/metrics.hpp"
#include "config/config.hpp"
#include "stet/error.hpp"
#include "stores/committer/committer.hpp"

namespace stet::admin {

// What the server looks at and works on; they outlive it.
struct AdminParts {
  stores::Committer& committer;
  Metrics& metrics;
  Log& log;
};

class AdminServer {
 public:
  // Binds config->admin and starts to serve. The error is one sentence for the log (the process ends with
  // status 3): the port is taken, the address is not ours, or it can be reached from elsewhere and there is
  // no admin_token.
  static Expected<std::unique_ptr<AdminServer>, std::string> open(std::shared_ptr<const config::Config>,
                                                                  AdminParts);
  ~AdminServer();  // stop()

  std::string address() const;  // "127.0.0.1:9090", with the port that the system picked
  // /readyz says 503 from now on; everything else goes on, so that a drain can be watched.
  void set_draining();
  // After a reload: the token and the routes' times are taken over; the address stays.
  void use(std::shared_ptr<const config::Config>);
  void stop();  // idempotent; answers that are under way are cut off

 private:
  class Serving;
  AdminServer(std::unique_ptr<Serving>, Metrics&);
  std::unique_ptr<Serving> serving_;
  Metrics& metrics_;
};

}  // namespace stet::admin
