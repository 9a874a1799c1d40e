#pragma once
// Connections to upstreams, kept open between requests. One pool a worker.

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "admin/metrics.hpp"
#include "config/config.hpp"
#include "gateway/gate.hpp"
#include "gateway/link.hpp"
#include "gateway/upstream_tls.hpp"

namespace stet::gateway {

// A connection with what has been read of it and not used.
struct UpstreamLink {
  UpstreamLink(Worker& worker, Socket socket, admin::Gauge& open) : link(worker, std::move(socket)), counted(open) {}
  Link link;
  ReadBuffer in;
  admin::Held counted;
  std::shared_ptr<const UpstreamTls> tls;  // by whose word the upstream is who it should be; nullptr: plain
  std::chrono::milliseconds idle_limit{};  // what this upstream keeps an idle connection for, as far as we know
};
using UpstreamLinkPtr = std::unique_ptr<UpstreamLink>;

class UpstreamPool {
 public:
  UpstreamPool(Worker& worker, admin::ProcessMetrics& metrics) : worker_(worker), metrics_(metrics) {}

  // Upstreams close idle connections, and a request may cross that on its way. Nobody sends a write again, so a keyed
  // one takes only what was used a moment ago.
  enum class Use : std::uint8_t { keyed, unkeyed };
  // An idle connection that was quiet and open a microsecond ago; nullptr: connect.
  UpstreamLinkPtr take_idle(const config::UpstreamUrl&, Use);
  // Within kConnectTimeout in all, name resolution apart. The error says in a few words what failed. In a burst only
  // so many connect at once, as an upstream's backlog is short; the others wait, and take what comes free meanwhile.
  Task<Expected<UpstreamLinkPtr, std::string>> connect(const config::UpstreamUrl&, Use,
                                                       std::shared_ptr<const UpstreamTls>);
  // After a whole answer on a connection that both sides keep. `keep_alive`: the answer's Keep-Alive field.
  void give_back(const config::UpstreamUrl&, UpstreamLinkPtr, std::optional<std::string_view> keep_alive);

  void clear() { idle_.clear(); }
  // A reload: what was opened under another configuration of TLS is not used again, also when it comes back later.
  void use(std::shared_ptr<const UpstreamTls> tls) {
    clear();
    tls_ = std::move(tls);
  }
  void drop_old(MonoTime now);       // now and then

  static constexpr std::chrono::seconds kConnectTimeout{3};

 private:
  struct Idle {
    UpstreamLinkPtr link;
    MonoTime since;
  };
  struct Shelf {
    config::UpstreamUrl::Scheme scheme;
    std::string host;
    std::uint16_t port;
    std::vector<Idle> idle;  // the last one was used last
  };
  struct Resolved {
    std::string host;
    MonoTime until;
    std::vector<asio::ip::address> addresses;
  };
  class Connecting;  // holds one of the turns
  Shelf& shelf(const config::UpstreamUrl&);
  Task<Expected<UpstreamLinkPtr, std::string>> connect_now(const config::UpstreamUrl&,
                                                           std::shared_ptr<const UpstreamTls>);
  void next_turn();
  Task<Expected<std::vector<asio::ip::address>, std::string>> resolve(const std::string& host);

  Worker& worker_;
  admin::ProcessMetrics& metrics_;
  std::shared_ptr<const UpstreamTls> tls_;
  std::vector<Shelf> idle_;
  std::vector<Resolved> resolved_;
  std::size_t connecting_ = 0;
  std::deque<Gate*> waiting_;  // each lives in the coroutine that waits
};

}  // namespace stet::gateway
