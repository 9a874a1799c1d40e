#pragma once
// The port for callers: accepts on the first worker and deals connections out in turn.

#include <boost/asio/basic_socket_acceptor.hpp>
#include <memory>
#include <vector>

#include "gateway/station.hpp"

namespace stet::gateway {

class Listener {
 public:
  // The error is one sentence for the log. The stations outlive it.
  static Expected<std::unique_ptr<Listener>, std::string> open(const config::Endpoint&,
                                                               std::vector<std::unique_ptr<Station>>&);
  std::string address() const;  // with the port that the system picked
  void start();
  void close();  // any thread; connections that were accepted stay

 private:
  explicit Listener(std::vector<std::unique_ptr<Station>>&);
  Task<void> accept();
  enum class Accepted : std::uint8_t { one, none_waiting, no_room };
  Accepted accept_one();

  std::vector<std::unique_ptr<Station>>& stations_;
  asio::basic_socket_acceptor<tcp, Executor> acceptor_;
  std::size_t next_ = 0;
};

}  // namespace stet::gateway
