#include "probe/exchange.hpp"

#include <thread>

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

namespace {

constexpr std::chrono::milliseconds kSlower{250};  // than the first; a lost SYN is sent again after a second
constexpr int kInARow = 2;                         // left outside one after the other: there is no more room

// As many connections as the server takes; or why not even the first could be opened.
Expected<std::vector<Wire>, Failure> open_at_once(const Url& url, int most, const Route& route) {
  const Deadline begun = Clock::now();
  auto first = Wire::open(url, route.tls, route.deadline());
  if (!first) return tl::unexpected(first.error());
  const auto patience = 3 * (Clock::now() - begun) + kSlower;
  std::vector<Wire> wires;
  wires.push_back(std::move(*first));
  int outside = 0;
  for (int number = 2; number <= most && outside < kInARow; ++number) {
    auto wire = Wire::open(url, route.tls, std::min(route.end, Clock::now() + patience));
    outside = wire ? 0 : outside + 1;
    if (wire) wires.push_back(std::move(*wire));
  }
  return wires;
}

}  // namespace

std::vector<Outcome> exchange_at_once(const Request& request, int copies, const Route& route) {
  auto wires = open_at_once(request.url, copies, route);
  if (!wires) return {tl::unexpected(wires.error())};
  const Deadline deadline = route.deadline();
  const std::string bytes = serialize(request);
  const auto all_but_the_last = std::string_view(bytes).substr(0, bytes.size() - 1);
  std::vector<Expected<void, Failure>> sent;
  for (Wire& wire : *wires) sent.push_back(wire.send(all_but_the_last, deadline));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i]) sent[i] = (*wires)[i].send(std::string_view(bytes).substr(bytes.size() - 1), deadline);
  }
  // Each connection is closed when its answer is there: a server with a few threads that wait for the next
  // request of a kept connection would have none left for the others.
  std::vector<Outcome> outcomes(sent.size());
  std::vector<std::jthread> readers;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    readers.emplace_back([&, i] {
      Wire& wire = (*wires)[i];
      outcomes[i] = sent[i] ? read_response(wire, request.method, deadline) : tl::unexpected(sent[i].error());
      wire.close();
    });
  }
  readers.clear();
  return outcomes;
}

}  // namespace stet::probe
