#include "admin/admin_server.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>

#include "stores/memory/memory_store.hpp"

namespace stet::admin {
namespace {

using namespace std::chrono_literals;

// A client with nothing between it and the bytes.
class Client {
 public:
  explicit Client(const std::string& address) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    ::inet_pton(AF_INET, "127.0.0.1", &peer.sin_addr);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&peer), sizeof peer), 0);
    const timeval patience{10, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Client() { ::close(fd_); }
  void send(const std::string& bytes) {
    EXPECT_EQ(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  std::string read_until(const std::string& end) {
    while (received_.find(end) == std::string::npos && read_some()) {
    }
    return received_;
  }
  std::string read_to_end() {
    while (read_some()) {
    }
    return received_;
  }

 private:
  bool read_some() {
    char piece[4096];
    ssize_t got = 0;
    do {
      got = ::recv(fd_, piece, sizeof piece, 0);
    } while (got < 0 && errno == EINTR);  // with a time limit also when the process stood still
    if (got > 0) received_.append(piece, static_cast<std::size_t>(got));
    return got > 0;
  }
  int fd_;
  std::string received_;
};

// Answers nothing until it is let go.
class StuckStore final : public Store {
 public:
  std::vector<Outcome> execute(std::span<const Command> batch) override {
    return std::vector<Outcome>(batch.size(), Result{result::Ok{}});
  }
  std::optional<Record> find(const OperationId&) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return free_; });
    return std::nullopt;
  }
  Page list(const Filter&, std::size_t, const std::string&) override { return {}; }
  void let_go() {
    const std::scoped_lock lock(mutex_);
    free_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool free_ = false;
};

struct AdminServerTest : testing::Test {
  AdminServerTest() {
    config->admin.port = 0;
    start();
  }
  void start() {
    auto opened = AdminServer::open(config, {committer, metrics, log});
    ASSERT_TRUE(opened.has_value()) << opened.error();
    server = std::move(*opened);
  }
  static std::string get(const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  }

  std::shared_ptr<config::Config> config = std::make_shared<config::Config>();
  Metrics metrics;
  Log log{config::LogFormat::off, config::LogKeys::hash};
  stores::Committer committer{stores::make_memory_store()};
  std::unique_ptr<AdminServer> server;
};

TEST_F(AdminServerTest, serves_one_request_after_the_other) {
  Client client(server->address());
  client.send(get("/livez") + get("/readyz"));
  const std::string text = client.read_until("{\"ready\":true}\n");
  EXPECT_EQ(text.rfind("HTTP/1.1 200 OK\r\n", 0), 0U);
  EXPECT_LT(text.find("\r\n\r\nok\n"), text.find("{\"ready\":true}"));
}

TEST_F(AdminServerTest, answers_head_without_a_body) {
  Client client(server->address());
  client.send("HEAD /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string text = client.read_to_end();
  EXPECT_NE(text.find("Content-Length: 3\r\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\r\n\r\n"));
}

TEST_F(AdminServerTest, takes_a_body_in_pieces_and_asks_for_it_when_expected) {
  Client client(server->address());
  client.send(
      "POST /api/sweep HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n");
  client.read_until("100 Continue\r\n\r\n");
  client.send("1\r\n{\r\n");
  client.send("1\r\n}\r\n0\r\n\r\n");
  EXPECT_NE(client.read_until("\"sane\"}").find("\"expired\":0"), std::string::npos);
}

TEST_F(AdminServerTest, closes_after_a_request_that_two_readers_could_read_differently) {
  Client client(server->address());
  client.send(
      "POST /api/sweep HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}" +
      get("/livez"));
  const std::string text = client.read_to_end();
  EXPECT_EQ(text.rfind("HTTP/1.1 400 ", 0), 0U) << text;
  EXPECT_EQ(text.find("\r\n\r\nok\n"), std::string::npos);
}

TEST_F(AdminServerTest, refuses_a_body_that_no_answer_could_need) {
  Client client(server->address());
  client.send(
      "POST /api/sweep HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 100000000\r\n\r\n");
  EXPECT_EQ(client.read_to_end().rfind("HTTP/1.1 413 ", 0), 0U);
}

TEST_F(AdminServerTest, holds_its_own_number_of_connections) {
  std::vector<std::unique_ptr<Client>> held;
  for (int i = 0; i < 64; ++i) {
    held.push_back(std::make_unique<Client>(server->address()));
    held.back()->send(get("/livez"));
    held.back()->read_until("ok\n");
  }
  EXPECT_EQ(Client(server->address()).read_to_end(), "");
  held.pop_back();
  std::string text;
  for (int i = 0; i < 2000 && text.empty(); ++i) {  // until the server has seen the end of the other
    std::this_thread::sleep_for(10ms);
    Client late(server->address());
    late.send("GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    text = late.read_to_end();
  }
  EXPECT_NE(text.find("ok\n"), std::string::npos);
}

TEST_F(AdminServerTest, takes_a_new_token_over_at_a_reload) {
  auto changed = std::make_shared<config::Config>(*config);
  changed->admin_token = "s3cret";
  server->use(changed);
  Client client(server->address());
  client.send(get("/metrics"));
  EXPECT_EQ(client.read_until("\r\n\r\n").rfind("HTTP/1.1 401 ", 0), 0U);
}

TEST_F(AdminServerTest, says_that_it_drains) {
  server->set_draining();
  Client client(server->address());
  client.send(get("/readyz"));
  EXPECT_EQ(client.read_until("draining").rfind("HTTP/1.1 503 ", 0), 0U);
}

TEST_F(AdminServerTest, stops_while_connections_are_open) {
  Client idle(server->address());
  Client half(server->address());
  half.send("GET /livez HT");
  Client served(server->address());
  served.send(get("/livez"));
  served.read_until("ok\n");
  server->stop();
  server->stop();
  EXPECT_EQ(idle.read_to_end(), "");
  EXPECT_EQ(half.read_to_end(), "");
}

TEST_F(AdminServerTest, does_not_open_a_port_that_is_taken) {
  auto second = std::make_shared<config::Config>(*config);
  const std::string address = server->address();
  second->admin.port = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  const auto opened = AdminServer::open(second, {committer, metrics, log});
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().find(address), std::string::npos) << opened.error();
}

TEST_F(AdminServerTest, is_not_reachable_from_elsewhere_without_a_token) {
  auto open_to_all = std::make_shared<config::Config>(*config);
  open_to_all->admin.host = "0.0.0.0";
  const auto refused = AdminServer::open(open_to_all, {committer, metrics, log});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().find("admin_token"), std::string::npos);
  open_to_all->admin_token = "s3cret";
  EXPECT_TRUE(AdminServer::open(open_to_all, {committer, metrics, log}).has_value());
}

TEST_F(AdminServerTest, keeps_its_token_while_it_can_be_reached_from_elsewhere) {
  auto open_to_all = std::make_shared<config::Config>(*config);
  open_to_all->admin.host = "0.0.0.0";
  open_to_all->admin_token = "s3cret";
  const auto opened = AdminServer::open(open_to_all, {committer, metrics, log});
  ASSERT_TRUE(opened.has_value()) << opened.error();
  (*opened)->use(config);  // loopback and no token: the port itself moves only at a restart
  Client client((*opened)->address());
  client.send(get("/metrics"));
  EXPECT_EQ(client.read_until("\r\n\r\n").rfind("HTTP/1.1 401 ", 0), 0U);
}

TEST(AdminServer, stays_alive_while_the_store_is_stuck_and_ends_before_it) {
  auto config = std::make_shared<config::Config>();
  config->admin.port = 0;
  Metrics metrics;
  Log log(config::LogFormat::off, config::LogKeys::hash);
  auto stuck = std::make_unique<StuckStore>();
  StuckStore& store = *stuck;
  stores::Committer committer(std::move(stuck));
  {
    auto server = AdminServer::open(config, {committer, metrics, log});
    ASSERT_TRUE(server.has_value());
    Client waiting((*server)->address());
    waiting.send("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    Client other((*server)->address());
    other.send("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_NE(other.read_until("ok\n").find("200 OK"), std::string::npos);
    EXPECT_NE(waiting.read_until("store-unavailable").find("HTTP/1.1 503 "), std::string::npos);
    Client scraper((*server)->address());
    scraper.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_NE(scraper.read_until("stet_store_queued").find("HTTP/1.1 200 "), std::string::npos);
    waiting.send("GET /api/operations/00000000000000000000000000000000 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    std::this_thread::sleep_for(50ms);
  }
  store.let_go();  // its late answers find nobody
}

}  // namespace
}  // namespace stet::admin
