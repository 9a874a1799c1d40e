#pragma once
// A proxy for one exchange that cuts it at an exact place. A tool at the TCP level sees segments and cannot
// say "after the whole request was delivered, before a byte of the answer"; this one knows the request's
// length.

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

#include "probe/exchange.hpp"

namespace stet::probe {

struct Cut {
  enum class Place : std::uint8_t {
    inside_request,  // after `bytes` of the request
    hang_up,  // `delay` after the whole request was delivered: both sides closed, the server still at work
    answer_dropped,  // the server has sent its whole answer; the client gets none of it
    inside_answer,   // the client gets `bytes` of the answer
    nowhere,
  };
  Place place = Place::nowhere;
  std::size_t bytes = 0;
  std::chrono::milliseconds delay{0};
};

class FaultProxy {
 public:
  // Listens at once; serves one connection on a thread of its own. `request_size` is that of the serialized
  // request.
  FaultProxy(const Url& server, const Route&, std::size_t request_size, Cut);
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;
  ~FaultProxy();

  Endpoint endpoint() const { return listener_.endpoint(); }

  struct Seen {
    std::size_t request_bytes = 0;  // delivered to the server
    std::size_t answer_bytes = 0;   // received from it
    std::string trouble;            // on the server's side, before the cut
  };
  Seen wait();  // until the exchange is over

 private:
  void serve();
  bool deliver_request(Wire& client, Wire& server, Deadline);
  void pass_answer(Wire& client, Wire& server, Deadline);

  Url server_;
  Route route_;
  std::size_t request_size_;
  Cut cut_;
  Listener listener_;
  Seen seen_;  // the thread's until wait() has joined it
  std::thread thread_;
};

// The request with its connection cut there. The outcome is the client's, which is nearly always
// Trouble::cut.
struct CutExchange {
  Outcome outcome;
  FaultProxy::Seen seen;
};
CutExchange exchange_with_cut(const Request&, const Route&, Cut);

}  // namespace stet::probe
