#include "probe/fault_proxy.hpp"

#include <algorithm>

#include "probe/interruption.hpp"

namespace stet::probe {

FaultProxy::FaultProxy(const Url& server, const Route& route, std::size_t request_size, Cut cut)
    : server_(server),
      route_(route),
      request_size_(request_size),
      cut_(cut),
      listener_({"127.0.0.1", 0}),
      thread_([this] { serve(); }) {}

FaultProxy::~FaultProxy() {
  listener_.stop();
  if (thread_.joinable()) thread_.join();
}

FaultProxy::Seen FaultProxy::wait() {
  if (thread_.joinable()) thread_.join();
  return seen_;
}

void FaultProxy::serve() {
  const Deadline deadline = route_.deadline();
  const int fd = listener_.accept(deadline);
  if (fd < 0) return;
  Wire client = Wire::adopt(fd);
  auto server = Wire::open(server_, route_.tls, deadline);
  if (!server) {
    seen_.trouble = server.error().detail;
    return;
  }
  if (!deliver_request(client, *server, deadline) || cut_.place == Cut::Place::inside_request) {
    server->close();
    client.reset();
    return;
  }
  if (cut_.place == Cut::Place::hang_up) {
    pause(cut_.delay);
    server->close();
    client.reset();
    return;
  }
  pass_answer(client, *server, deadline);
}

// True when all that was to be delivered has been.
bool FaultProxy::deliver_request(Wire& client, Wire& server, Deadline deadline) {
  const std::size_t goal =
      cut_.place == Cut::Place::inside_request ? std::min(cut_.bytes, request_size_) : request_size_;
  while (seen_.request_bytes < goal) {
    auto bytes = client.receive(deadline);
    if (!bytes || bytes->empty()) return false;
    const auto part = std::string_view(*bytes).substr(0, goal - seen_.request_bytes);
    if (const auto sent = server.send(part, deadline); !sent) {
      seen_.trouble = sent.error().detail;
      return false;
    }
    seen_.request_bytes += part.size();
  }
  return true;
}

void FaultProxy::pass_answer(Wire& client, Wire& server, Deadline deadline) {
  ResponseReader reader("");
  std::size_t passed = 0;
  while (true) {
    auto bytes = server.receive(deadline);
    if (!bytes) {
      seen_.trouble = bytes.error().detail;
      break;
    }
    seen_.answer_bytes += bytes->size();
    std::string_view part = *bytes;
    if (cut_.place == Cut::Place::answer_dropped) part = {};
    if (cut_.place == Cut::Place::inside_answer) part = part.substr(0, cut_.bytes - passed);
    passed += part.size();
    if (!client.send(part, deadline)) break;
    if (cut_.place == Cut::Place::inside_answer && passed >= cut_.bytes) break;
    if (bytes->empty() || reader.feed(*bytes) != ResponseReader::Progress::more) break;
  }
  if (cut_.place == Cut::Place::nowhere) {
    client.close();
    return;
  }
  client.reset();
}

CutExchange exchange_with_cut(const Request& request, const Route& route, Cut cut) {
  FaultProxy proxy(request.url, route, serialize(request).size(), cut);
  Outcome outcome = exchange_through(proxy.endpoint(), request, route);
  return {std::move(outcome), proxy.wait()};
}

}  // namespace stet::probe
