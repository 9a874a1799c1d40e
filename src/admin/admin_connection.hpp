#pragma once
// One connection to the admin port: strict HTTP/1.1, one request after the other. Of the admin thread.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <string>

#include "admin/admin_api.hpp"
#include "http/body_decoder.hpp"

namespace stet::admin {

class AdminConnection : public std::enable_shared_from_this<AdminConnection> {
 public:
  AdminConnection(boost::asio::ip::tcp::socket socket, AdminApi& api);

  boost::asio::awaitable<void> run();  // until the end of the connection; never throws
  void close();                        // everything that waits here ends now

 private:
  template <class T>
  using Task = boost::asio::awaitable<T>;
  struct Pending;

  // A whole request, or what to answer before the connection is closed, or (neither) its end.
  struct Incoming {
    std::optional<AdminRequest> request;
    std::optional<Answer> refusal;
  };
  Task<Incoming> read_request();
  Task<std::optional<Answer>> read_body(AdminRequest&);  // an answer: refuse
  Task<bool> read_more();
  Task<Answer> ask(const AdminRequest&);
  Task<bool> send(const http::RequestHead*, Answer, http::Persistence);
  Task<void> linger();
  void close_after(std::chrono::milliseconds);

  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer deadline_;
  AdminApi& api_;
  std::string buffer_;  // received and not yet used
  std::shared_ptr<Pending> pending_;
};

}  // namespace stet::admin
