#pragma once
// One caller's connection: requests in their order, each served whole before the next is read. Of one worker.

#include <memory>
#include <optional>
#include <string>

#include "gateway/request.hpp"
#include "gateway/station.hpp"

namespace stet::gateway {

class Session final : public Timed, public std::enable_shared_from_this<Session> {
 public:
  Session(Station&, Socket);
  ~Session() override;
  Task<void> run();

  // A drain ends a connection that waits for its next request; one that is being served ends after its answer.
  void close_if_idle();

  // ---- for whoever serves a request ----
  Station& station() { return station_; }
  Link& link() { return link_; }
  ReadBuffer& in() { return in_; }
  const std::string& client_address() const { return client_address_; }

  // Writes the whole answer with one system call where the socket takes it.
  Task<After> respond(Request&, Response);
  Task<After> respond_problem(Request&, const Shown&);
  // Whether the connection can serve another request once this one is answered.
  http::Persistence persistence(const Request&) const;

  // While an answer is awaited or streamed: look now and then whether the caller is still there, and call `gone` if
  // it is not. nullptr ends it. A caller who has sent a FIN may still read, and where it costs little has its answer.
  enum class Gone : std::uint8_t { by_a_fin, when_it_no_longer_reads };
  void watch_caller(std::function<void()> gone, Gone = Gone::by_a_fin);

 protected:
  void on_due(MonoTime now) override;

 private:
  enum class Phase : std::uint8_t { idle, receiving, serving };
  Task<std::optional<http::RequestHead>> read_head();
  Task<void> refuse(const http::WireError&);
  Task<After> serve(std::shared_ptr<Request>);

  Station& station_;
  Link link_;
  ReadBuffer in_;
  std::string out_;  // of respond(), kept for its capacity
  std::string client_address_;
  Phase phase_ = Phase::idle;
  std::function<void()> caller_gone_;
  Gone gone_ = Gone::by_a_fin;
};

}  // namespace stet::gateway
