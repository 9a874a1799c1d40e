#include "admin/admin_server.hpp"

#include <signal.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <set>
#include <thread>

#include "admin/admin_connection.hpp"

namespace stet::admin {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// A scraper, a health check and a few operators; whoever holds more has lost count.
constexpr std::size_t kMostConnections = 64;

std::string text_of(const tcp::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  const std::string port = ":" + std::to_string(endpoint.port());
  return endpoint.address().is_v6() ? "[" + address + "]" + port : address + port;
}

}  // namespace

// What accept() and serve() touch belongs to the admin thread while that runs.
class AdminServer::Serving {
 public:
  Serving(std::shared_ptr<const config::Config> config, AdminParts parts)
      : io_(std::make_shared<asio::io_context>(1)),
        acceptor_(*io_),
        api_(std::move(config), parts,
             [io = io_](std::function<void()> work) { asio::post(*io, std::move(work)); }),
        log_(parts.log) {}

  std::string bind(const config::Config&);  // what is wrong, or nothing
  void start();
  void stop();
  void use(std::shared_ptr<const config::Config>);
  std::string address() const { return address_; }

 private:
  asio::awaitable<void> accept();
  asio::awaitable<void> serve(std::shared_ptr<AdminConnection>);

  // Shared with what the store has not answered yet: such an answer is posted here even after our end.
  std::shared_ptr<asio::io_context> io_;
  tcp::acceptor acceptor_;
  AdminApi api_;
  Log& log_;
  std::set<std::shared_ptr<AdminConnection>> connections_;
  std::string address_;
  enum class Reach : std::uint8_t { loopback, network } reach_ = Reach::loopback;
  std::optional<std::string> token_;  // the one in use
  std::thread thread_;
};

std::string AdminServer::Serving::bind(const config::Config& config) {
  const config::Endpoint& wanted = config.admin;
  const std::string where = wanted.host + ":" + std::to_string(wanted.port);
  error_code error;
  tcp::resolver resolver(*io_);
  const auto found = resolver.resolve(wanted.host, std::to_string(wanted.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) return "The admin address " + where + " is not known: " + error.message();
  const tcp::endpoint endpoint = found.begin()->endpoint();
  reach_ = endpoint.address().is_loopback() ? Reach::loopback : Reach::network;
  token_ = config.admin_token;
  if (reach_ == Reach::network && !token_) {
    return "The admin port " + where +
           " could be reached from elsewhere: set admin_token, or bind 127.0.0.1.";
  }
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return "The admin port " + where + " cannot be used: " + error.message();
  address_ = text_of(acceptor_.local_endpoint());
  return {};
}

// A reload that moves the port to loopback and drops the token opens nothing: the port stays where it is
// until a restart, and so does the token.
void AdminServer::Serving::use(std::shared_ptr<const config::Config> config) {
  if (reach_ == Reach::network && !config->admin_token) {
    auto kept = std::make_shared<config::Config>(*config);
    kept->admin_token = token_;
    config = std::move(kept);
  }
  token_ = config->admin_token;
  asio::post(*io_, [this, config = std::move(config)] { api_.use(config); });
}

void AdminServer::Serving::start() {
  asio::co_spawn(*io_, accept(), asio::detached);
  thread_ = std::thread([this] {
    sigset_t all;  // signals are for the threads that wait for them
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    io_->run();
  });
}

void AdminServer::Serving::stop() {
  if (!thread_.joinable()) return;
  asio::post(*io_, [this] {
    error_code ignored;
    acceptor_.close(ignored);
    for (const auto& connection : connections_) connection->close();
  });
  thread_.join();  // run() returns once the last coroutine has ended
}

asio::awaitable<void> AdminServer::Serving::accept() {
  constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
  asio::steady_timer pause(*io_);
  while (acceptor_.is_open()) {
    auto [error, socket] = co_await acceptor_.async_accept(as_result);
    if (!acceptor_.is_open()) break;
    if (error) {  // out of descriptors, most likely: let some be closed
      log_.once(Level::warning, "admin-accept-failed",
                "A connection to the admin port could not be accepted.");
      pause.expires_after(std::chrono::milliseconds(100));
      co_await pause.async_wait(as_result);
    }
    if (error || connections_.size() >= kMostConnections) continue;
    auto connection = std::make_shared<AdminConnection>(std::move(socket), api_);
    connections_.insert(connection);
    asio::co_spawn(*io_, serve(std::move(connection)), asio::detached);
  }
}

asio::awaitable<void> AdminServer::Serving::serve(std::shared_ptr<AdminConnection> connection) {
  co_await connection->run();
  connections_.erase(connection);
}

Expected<std::unique_ptr<AdminServer>, std::string> AdminServer::open(
    std::shared_ptr<const config::Config> config, AdminParts parts) {
  auto serving = std::make_unique<Serving>(config, parts);
  if (std::string wrong = serving->bind(*config); !wrong.empty()) {
    return unexpected(std::move(wrong));
  }
  parts.metrics.watch_dropped_lines([&log = parts.log] { return log.dropped(); });
  serving->start();
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(serving), parts.metrics));
}

AdminServer::AdminServer(std::unique_ptr<Serving> serving, Metrics& metrics)
    : serving_(std::move(serving)), metrics_(metrics) {}
AdminServer::~AdminServer() {
  stop();
}
std::string AdminServer::address() const {
  return serving_->address();
}
void AdminServer::set_draining() {
  metrics_.process.draining.set(1);
}
void AdminServer::use(std::shared_ptr<const config::Config> config) {
  serving_->use(std::move(config));
}
void AdminServer::stop() {
  serving_->stop();
}

}  // namespace stet::admin
