#include "probe/exchange.hpp"

namespace stet::probe {

Outcome read_response(Wire& wire, std::string_view method, Deadline deadline, Reuse* reuse) {
  const Deadline begun = Clock::now();
  ResponseReader reader(method);
  while (true) {
    auto bytes = wire.receive(deadline);
    if (!bytes) return tl::unexpected(bytes.error());
    const auto progress = bytes->empty() ? reader.end() : reader.feed(*bytes);
    if (progress == ResponseReader::Progress::more) continue;
    if (progress == ResponseReader::Progress::malformed) {
      if (!bytes->empty()) return tl::unexpected(Failure{Trouble::malformed, "the answer is not HTTP/1.1"});
      return tl::unexpected(Failure{Trouble::cut, reader.started()
                                                      ? "the answer ended in the middle"
                                                      : "the connection was closed without an answer"});
    }
    if (reuse != nullptr) *reuse = reader.reuse();
    Response response = reader.take();
    response.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
    return response;
  }
}

namespace {

// A server may answer before it has read everything (413, 401): a failed send is not the end, its answer
// counts.
Outcome send_and_read(Wire& wire, const Request& request, Deadline deadline, Reuse* reuse = nullptr) {
  const auto sent = wire.send(serialize(request), deadline);
  Outcome outcome = read_response(wire, request.method, deadline, reuse);
  if (!outcome && !sent) return tl::unexpected(sent.error());
  return outcome;
}

}  // namespace

Outcome exchange(const Request& request, const Route& route) {
  const Deadline deadline = route.deadline();
  auto wire = Wire::open(request.url, route.tls, deadline);
  if (!wire) return tl::unexpected(wire.error());
  return send_and_read(*wire, request, deadline);
}

Outcome exchange_through(const Endpoint& proxy, const Request& request, const Route& route) {
  const Deadline deadline = route.deadline();
  auto wire = Wire::open_plain(proxy, deadline);
  if (!wire) return tl::unexpected(wire.error());
  return send_and_read(*wire, request, deadline);
}

Outcome Line::exchange(const Request& request) {
  const Deadline deadline = route_.deadline();
  // Nothing is expected on an idle connection but its end.
  if (!wire_.empty() && wire_.front().readable(Clock::now())) wire_.clear();
  if (wire_.empty()) {
    auto wire = Wire::open(request.url, route_.tls, deadline);
    if (!wire) return tl::unexpected(wire.error());
    wire_.push_back(std::move(*wire));
  }
  Reuse reuse = Reuse::close;
  Outcome outcome = send_and_read(wire_.front(), request, deadline, &reuse);
  if (!outcome || reuse == Reuse::close) wire_.clear();
  return outcome;
}

std::vector<Outcome> exchange_at_once(const std::vector<Request>& requests, const Route& route) {
  const Deadline deadline = route.deadline();
  struct Runner {
    Wire wire;
    std::string last;
  };
  std::vector<Expected<Runner, Failure>> runners;
  for (const Request& request : requests) {
    std::string bytes = serialize(request);
    auto wire = Wire::open(request.url, route.tls, deadline);
    if (!wire) {
      runners.emplace_back(tl::unexpected(wire.error()));
      continue;
    }
    const std::string last = bytes.substr(bytes.size() - 1);
    bytes.pop_back();
    if (const auto sent = wire->send(bytes, deadline); !sent) {
      runners.emplace_back(tl::unexpected(sent.error()));
    } else {
      runners.emplace_back(Runner{std::move(*wire), last});
    }
  }
  for (auto& runner : runners) {
    if (!runner) continue;
    if (const auto sent = runner->wire.send(runner->last, deadline); !sent)
      runner = tl::unexpected(sent.error());
  }
  std::vector<Outcome> outcomes;
  for (std::size_t i = 0; i < runners.size(); ++i) {
    if (!runners[i]) {
      outcomes.emplace_back(tl::unexpected(runners[i].error()));
    } else {
      outcomes.push_back(read_response(runners[i]->wire, requests[i].method, deadline));
    }
  }
  return outcomes;
}

}  // namespace stet::probe
