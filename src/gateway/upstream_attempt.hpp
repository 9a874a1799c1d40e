#pragma once
// One attempt of a keyed request at the upstream: send it once, and tell exactly what became of it.
//
// Nothing is ever sent a second time. `NotSent` means that not one byte has left; from the first byte on only a
// complete, valid, final answer is anything else than `Lost`.

#include <chrono>
#include <memory>
#include <string>

#include "gateway/snapshot.hpp"
#include "gateway/upstream_pool.hpp"
#include "http/response_reader.hpp"
#include "stet/exchange.hpp"

namespace stet::gateway {

class UpstreamAttempt : public std::enable_shared_from_this<UpstreamAttempt> {
 public:
  struct Order {
    const config::UpstreamUrl& upstream;
    const config::Route& route;
    std::string_view method;
    std::string head;       // serialised
    std::string_view body;  // outlives the attempt's run()
    std::shared_ptr<const UpstreamTls> tls;
    MonoTime send_before;  // no first byte after this
  };
  UpstreamAttempt(UpstreamPool&, Order);

  Task<UpstreamOutcome> run();
  // Ends run() soon, with an outcome that nobody wants any more.
  void abort();

  // The answer's lines as its own caller gets them, Set-Cookie and all; nullptr: those of the outcome are all.
  const Headers* own_caller_headers() const { return own_caller_headers_.empty() ? nullptr : &own_caller_headers_; }

  // After TooLarge: the rest of the answer, to be read by whoever streams it.
  struct Rest {
    UpstreamLinkPtr link;
    http::ResponseReader reader;
    http::BodyFraming framing;
    std::uint64_t content_length;
    std::string begun;  // the body so far
  };
  std::optional<Rest> take_rest() { return std::move(rest_); }

  int status() const { return status_; }  // 0: no head came
  // From the first byte sent to the last of the answer that was read.
  std::optional<std::chrono::nanoseconds> duration() const;

 private:
  Task<Expected<void, std::string>> send();
  Task<UpstreamOutcome> receive();
  bool may_send() const;
  Task<Link::Sent> send_on(UpstreamLinkPtr);
  Headers take_lines(const http::ResponseHead&);
  UpstreamOutcome answered(http::ResponseReader&, std::string body);
  UpstreamOutcome too_large(http::ResponseReader&, std::string begun);

  UpstreamPool& pool_;
  Order order_;
  UpstreamLinkPtr link_;
  enum class Request : std::uint8_t { whole, broken_off } request_ = Request::whole;
  enum class Wanted : std::uint8_t { yes, no } wanted_ = Wanted::yes;
  Headers own_caller_headers_;
  std::optional<Rest> rest_;
  int status_ = 0;
  std::chrono::steady_clock::time_point sent_at_{};
  std::chrono::steady_clock::time_point ended_at_{};
};

}  // namespace stet::gateway
