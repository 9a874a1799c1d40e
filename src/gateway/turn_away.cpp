#include "gateway/turn_away.hpp"

#include "gateway/link.hpp"
#include "http/problem.hpp"
#include "http/serialize.hpp"

namespace stet::gateway {
namespace {

class Told {
 public:
  explicit Told(std::atomic<std::size_t>& count) : count_(count) { count_.fetch_add(1, std::memory_order_relaxed); }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;
  ~Told() { count_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t>& count_;
};

}  // namespace

Task<void> turn_away(Station& station, Socket socket) {
  station.shared.metrics.process.connections_refused.add();
  const Told told(station.shared.turned_away);
  Link link(station.worker, std::move(socket));
  link.prepare();
  link.set_write_patience(std::chrono::seconds(1));
  Shown shown = problem(Problem::overloaded, Outcome::not_executed,
                        "The gateway has as many connections as it may. Nothing of the request was read.");
  shown.retry_after = std::chrono::seconds(1);
  const Answer answer = http::problem_answer(shown);
  http::Reply reply;
  reply.status = answer.status;
  reply.fields = answer.headers;
  reply.body = http::OutgoingBody::sized(answer.body.size());
  reply.persistence = http::Persistence::close;
  reply.now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
  std::string head;
  http::append_response_head(head, reply);
  co_await link.write(Gather(head, answer.body));
  co_await link.linger();
}

}  // namespace stet::gateway
