#pragma once
// One TCP connection, to a caller or to the upstream, under TLS or not. Of one worker; closes itself when its
// due time passes.

#include <boost/asio/buffer.hpp>
#include <array>
#include <memory>
#include <string>

#include "gateway/asio.hpp"
#include "gateway/read_buffer.hpp"
#include "gateway/timed.hpp"
#include "gateway/worker.hpp"

namespace stet::gateway {

class TlsLayer;  // tls.hpp

// Up to a handful of pieces sent with one system call.
class Gather {
 public:
  Gather() = default;
  Gather(std::string_view a, std::string_view b = {}, std::string_view c = {}) { add(a), add(b), add(c); }
  void add(std::string_view piece) {
    if (!piece.empty()) pieces_[count_++] = asio::const_buffer(piece.data(), piece.size());
  }
  bool empty() const { return first_ == count_; }
  void sent(std::size_t n);
  // An Asio buffer sequence of what is left.
  const asio::const_buffer* begin() const { return pieces_.data() + first_; }
  const asio::const_buffer* end() const { return pieces_.data() + count_; }

 private:
  std::array<asio::const_buffer, 4> pieces_{};
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

class Link : public Timed {
 public:
  enum class Got : std::uint8_t {
    data,
    end,   // a clean FIN; under TLS a close_notify
    lost,  // a reset, a truncated TLS stream, or our own abort
  };
  enum class Sent : std::uint8_t { all, nothing, some };  // `nothing`: not one byte has left

  Link(Worker&, Socket);
  ~Link() override;

  // TCP_NODELAY and non-blocking mode; a connection that is gone already says so at the first read.
  void prepare();

  Task<Got> read(ReadBuffer&, std::size_t room);
  Task<Sent> write(Gather);
  // Says that we send no more: a FIN, under TLS a close_notify first.
  Task<void> finish_writing();
  // Closes in a way that lets the peer read what we sent last although it still sends (RFC 9112 section 9.6).
  Task<void> linger();
  // What the peer did while we did not read. Costs a system call or two, never waits.
  enum class Idle : std::uint8_t {
    quiet,
    has_data,
    finished,  // a FIN: it sends no more. Whether it still reads cannot be seen
    gone,      // a reset, or it no longer answers
  };
  Idle look() const;
  // Has the kernel ask a peer that has finished: one that does not read any more is `gone` within about a minute.
  void ask_whether_it_reads();

  // Everything that waits on this connection ends now with `lost`.
  void abort();
  // The same, and the peer sees a reset: what it has must not look whole.
  void reset();
  // Ends a read that waits in another coroutine, and nothing else.
  void cancel();

  // From now on; a change costs nothing. The check is as coarse as Worker::kSlowTick.
  void due_in(std::chrono::milliseconds time) { due_ = std::chrono::steady_clock::now() + time; }
  void due_never() { due_ = kNever; }
  // A peer that takes nothing for so long is given up; none until set.
  void set_write_patience(std::chrono::milliseconds time) { write_patience_ = time; }
  bool timed_out() const { return timed_out_; }

  Socket& socket() { return socket_; }
  Worker& worker() { return worker_; }
  void set_tls(std::unique_ptr<TlsLayer>);

 protected:
  void on_due(MonoTime now) override;

 private:
  Task<Sent> write_tls(Gather);

  Worker& worker_;
  Socket socket_;
  std::unique_ptr<TlsLayer> tls_;
  std::chrono::milliseconds write_patience_{0};
  bool timed_out_ = false;
};

}  // namespace stet::gateway
