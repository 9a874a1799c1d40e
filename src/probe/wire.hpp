#pragma once
// One TCP or TLS connection under the probe's own control: every byte, every cut and every wait is ours. A
// library that keeps connections, retries or buffers would hide exactly what the probe is there to show.

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "probe/request.hpp"
#include "stet/error.hpp"

namespace stet::probe {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

enum class Trouble : std::uint8_t {
  unreachable,  // no connection: refused, no such host, no route
  timed_out,
  cut,        // the other side ended the connection before the answer was whole
  malformed,  // an answer that not even a lenient reader understands
  tls,
};

struct Failure {
  Trouble kind = Trouble::cut;
  std::string detail;
};

struct TlsSettings {
  enum class Verify : std::uint8_t { yes, no };
  Verify verify = Verify::yes;
  std::string ca_file;  // empty: the system's
};

// Where to connect, which is not always where the URL points: the fault proxy stands in between.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};

class Wire {
 public:
  static Expected<Wire, Failure> open(const Url&, const TlsSettings&, Deadline);
  static Expected<Wire, Failure> open_plain(const Endpoint&, Deadline);
  static Wire adopt(int fd);  // an accepted connection

  Wire(Wire&&) noexcept;
  Wire& operator=(Wire&&) noexcept;
  ~Wire();

  Expected<void, Failure> send(std::string_view, Deadline);
  Expected<std::string, Failure> receive(Deadline);  // what there is, at least a byte; empty at the end
  bool readable(Deadline) const;                     // bytes, or the end of the connection
  int fd() const;
  void close();
  void reset();  // RST instead of FIN, as when a process or a path dies

 private:
  struct Impl;
  explicit Wire(std::unique_ptr<Impl>);
  std::unique_ptr<Impl> impl_;
};

// A listening socket on host:port (0: the system picks). Throws std::system_error where it cannot.
class Listener {
 public:
  explicit Listener(const Endpoint&);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();
  Endpoint endpoint() const { return endpoint_; }
  int accept(Deadline) const;  // a descriptor, or -1 at the deadline or after stop()
  void stop();                 // from any thread; wakes accept

 private:
  int fd_ = -1;
  int wake_[2] = {-1, -1};
  Endpoint endpoint_;
};

}  // namespace stet::probe
