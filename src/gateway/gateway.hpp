#pragma once
// The running gateway: workers, the port, the background work. Started, reloaded and drained by one thread.

#include <memory>
#include <vector>

#include "gateway/listener.hpp"
#include "gateway/reconciler.hpp"
#include "gateway/station.hpp"

namespace stet::gateway {

class Gateway {
 public:
  // The error is one sentence for the log.
  static Expected<std::unique_ptr<Gateway>, std::string> open(std::shared_ptr<const config::Config>, admin::Log&,
                                                              admin::Metrics&, stores::Committer&);
  ~Gateway();

  std::string address() const { return listener_->address(); }
  void start();
  // Requests that come from now on are served under the new configuration; others end under their own. The error is
  // one sentence, and nothing has changed.
  Expected<void, std::string> reload(std::shared_ptr<const config::Config>);
  // Accepts no more and tells idle callers to go. What runs goes on until nothing does.
  void begin_drain();
  bool drained() const;
  std::size_t still_running() const { return shared_.operations.load() + shared_.connections.load(); }
  void stop();

 private:
  Gateway(std::shared_ptr<const config::Config>, admin::Log&, admin::Metrics&, stores::Committer&);

  Shared shared_;
  std::vector<std::unique_ptr<Station>> stations_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Reconciler> reconciler_;
};

}  // namespace stet::gateway
