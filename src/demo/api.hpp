#pragma once
// What the demo does with one request: the charges API and the faults that the request asks for.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

#include "demo/fault.hpp"
#include "demo/ledger.hpp"
#include "http/message.hpp"

namespace stet::demo {

// Lets sleepers end when the server does. Any thread.
class Stopping {
 public:
  void stop();
  bool stopped() const;
  void sleep(std::chrono::milliseconds) const;  // returns at once when stopped

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool stopped_ = false;
};

// What goes back on the connection. `cut`: before_effect and lost_answer break it without a byte.
struct Reaction {
  Cut cut = Cut::none;
  int status = 200;
  Headers fields;
  std::string body;
};

class Api {
 public:
  Api(Ledger& ledger, const Stopping& stopping) : ledger_(ledger), stopping_(stopping) {}

  // Takes as long as the request's faults say, and does not return from a crash.
  Reaction react(const http::RequestHead&, std::string_view body);

 private:
  Reaction route(const http::RequestHead&, std::string_view body, const Faults&);
  Reaction create(const http::RequestHead&, std::string_view body, const Faults&);
  Reaction list(const http::RequestHead&);
  Reaction show(std::string_view id, const Faults&);

  Ledger& ledger_;
  const Stopping& stopping_;
};

}  // namespace stet::demo
