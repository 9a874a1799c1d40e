#include "probe/effects_sink.hpp"

#include "probe/interruption.hpp"
#include "probe/json.hpp"
#include "probe/request_reader.hpp"

namespace stet::probe {
namespace {

constexpr std::chrono::seconds kIdle{5};  // of a kept connection; short, because the end waits for it

std::string answer(std::string_view status, const std::string& body) {
  return "HTTP/1.1 " + std::string(status) +
         "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

}  // namespace

EffectsSink::EffectsSink(const Endpoint& where) : listener_(where), acceptor_([this] { accept_all(); }) {}

EffectsSink::~EffectsSink() {
  stopping_ = true;
  listener_.stop();
  acceptor_.join();
  const std::lock_guard lock(mutex_);
  for (std::thread& server : servers_) server.join();
}

std::string EffectsSink::describe() const {
  return "calls to http://" + endpoint().host + ":" + std::to_string(endpoint().port);
}

void EffectsSink::accept_all() {
  while (!stopping_) {
    const int fd = listener_.accept(Clock::now() + std::chrono::hours(1));
    if (fd < 0) continue;
    const std::lock_guard lock(mutex_);
    servers_.emplace_back([this, fd] { serve(fd); });
  }
}

void EffectsSink::serve(int fd) {
  Wire wire = Wire::adopt(fd);
  std::string rest;
  Deadline idle = Clock::now() + kIdle;
  while (!stopping_ && !interrupted()) {
    // Short waits, so that the destructor never waits long for an idle connection.
    if (rest.empty() && !wire.readable(Clock::now() + std::chrono::milliseconds(50))) {
      if (Clock::now() > idle) return;
      continue;
    }
    const auto request = read_request(wire, rest, Clock::now() + kIdle);
    if (!request || !wire.send(respond(*request), Clock::now() + kIdle)) return;
    idle = Clock::now() + kIdle;
  }
}

std::string EffectsSink::respond(const Request& request) {
  if (health_ == Health::out) {
    ++turned_away_;
    return answer("503 Service Unavailable", R"({"error":"out of order, on purpose"})");
  }
  const std::string* key = find_header(request.headers, "Idempotency-Key");
  const std::lock_guard lock(mutex_);
  const bool repeated = key != nullptr && !keys_.insert(*key).second;
  if (!repeated) ++accepted_;
  return answer("200 OK", R"({"id":)" +
                              json_string(key != nullptr ? *key : std::to_string(accepted_.load())) +
                              R"(,"status":"succeeded"})");
}

}  // namespace stet::probe
