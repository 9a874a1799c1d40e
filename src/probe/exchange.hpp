#pragma once
// Exchanges over connections of our own: one at a time, on one kept connection, or many at the same moment.

#include <vector>

#include "probe/response.hpp"

namespace stet::probe {

// Where and how all exchanges of a run are made.
struct Route {
  TlsSettings tls;
  std::chrono::milliseconds request_timeout{30'000};
  Deadline end = Deadline::max();  // of the whole run

  Deadline deadline() const { return std::min(end, Clock::now() + request_timeout); }
};

// Reads one answer from a connection on which the request has been sent.
Outcome read_response(Wire&, std::string_view method, Deadline, Reuse* reuse = nullptr);

// On a connection of its own, closed afterwards.
Outcome exchange(const Request&, const Route&);

// The same through a proxy on the loopback interface that stands for the request's host.
Outcome exchange_through(const Endpoint& proxy, const Request&, const Route&);

// One connection that is kept as long as the server keeps it.
class Line {
 public:
  explicit Line(const Route& route) : route_(route) {}
  Outcome exchange(const Request&);

 private:
  const Route& route_;
  std::vector<Wire> wire_;  // none or one
};

// Opens a connection for each copy, sends all but the last byte everywhere, then the last bytes back to
// back, so that the copies become complete within microseconds of each other. A server with a full queue
// drops further connections without a word, and one that serves one caller after the other never takes them
// while the first waits for the last byte: who is not let in about as fast as the first caller stays outside
// and sends nothing. So there may be fewer outcomes than copies, but always one.
std::vector<Outcome> exchange_at_once(const Request&, int copies, const Route&);

}  // namespace stet::probe
