#include "gateway/request.hpp"

namespace stet::gateway {

void write_log(admin::Log& log, const Request& request) {
  admin::RequestLine line;
  line.method = request.head.method;
  line.path = request.head.path();
  if (request.route != nullptr) {
    const config::Route& route = request.route->route;
    line.route = route.name;
    if (route.key_from.kind == config::KeySource::Kind::path) line.key_segment = route.key_from.segment;
  }
  line.status = request.status;
  line.outcome = request.outcome;
  line.problem = request.problem;
  line.operation = request.operation;
  line.scope = request.scope;
  line.key = request.key;
  line.attempt = request.attempt;
  line.upstream_status = request.upstream_status;
  line.duration = std::chrono::steady_clock::now() - request.began;
  line.upstream = request.upstream_time;
  line.store = request.store_time;
  line.why = request.why;
  log.request(line);
}

}  // namespace stet::gateway
