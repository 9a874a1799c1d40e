#include "probe/fault_proxy.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "probe/request_reader.hpp"
#include "probe/testing.hpp"

namespace stet::probe {
namespace {

constexpr std::string_view kAnswer = "HTTP/1.1 201 Created\r\nContent-Length: 10\r\n\r\n0123456789";

// Accepts one connection, notes how many bytes came, and answers when the request was whole.
class OneShot {
 public:
  OneShot() : listener_({"127.0.0.1", 0}), thread_([this] { serve(); }) {}
  ~OneShot() { join(); }
  Request request() const {
    Request request;
    request.url = {Scheme::http, "127.0.0.1", listener_.endpoint().port, "/things"};
    request.body = "amount=4900";
    return request;
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  std::size_t received = 0;
  bool whole = false;

 private:
  void serve() {
    const Deadline deadline = Clock::now() + std::chrono::seconds(5);
    const int fd = listener_.accept(deadline);
    if (fd < 0) return;
    Wire wire = Wire::adopt(fd);
    std::string all;
    while (all.find("\r\n\r\namount=4900") == std::string::npos) {
      const auto bytes = wire.receive(deadline);
      if (!bytes || bytes->empty()) break;
      all += *bytes;
    }
    received = all.size();
    whole = all.ends_with("amount=4900");
    if (whole) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      (void)wire.send(kAnswer, deadline);
    }
  }
  Listener listener_;
  std::thread thread_;
};

Route route() {
  return Route{{}, std::chrono::seconds(5), Deadline::max()};
}

TEST(FaultProxy, passes_an_exchange_on_when_nothing_is_cut) {
  OneShot server;
  const auto result = exchange_with_cut(server.request(), route(), {});
  ASSERT_TRUE(result.outcome) << result.outcome.error().detail;
  EXPECT_EQ(result.outcome->body, "0123456789");
  EXPECT_EQ(result.seen.answer_bytes, kAnswer.size());
}

TEST(FaultProxy, delivers_exactly_the_bytes_of_the_request_before_the_cut) {
  OneShot server;
  const Request request = server.request();
  const std::size_t size = serialize(request).size();
  const auto result = exchange_with_cut(request, route(), {Cut::Place::inside_request, size - 1, {}});
  server.join();
  EXPECT_FALSE(result.outcome);
  EXPECT_EQ(result.seen.request_bytes, size - 1);
  EXPECT_EQ(server.received, size - 1);
  EXPECT_FALSE(server.whole);
}

TEST(FaultProxy, drops_the_whole_answer_after_the_server_has_sent_it) {
  OneShot server;
  const auto result = exchange_with_cut(server.request(), route(), {Cut::Place::answer_dropped, 0, {}});
  server.join();
  EXPECT_FALSE(result.outcome);
  EXPECT_TRUE(server.whole);
  EXPECT_EQ(result.seen.answer_bytes, kAnswer.size());
}

TEST(FaultProxy, cuts_inside_the_answer) {
  OneShot server;
  const auto result =
      exchange_with_cut(server.request(), route(), {Cut::Place::inside_answer, kAnswer.size() - 3, {}});
  ASSERT_FALSE(result.outcome);
  EXPECT_EQ(result.outcome.error().kind, Trouble::cut);
}

TEST(FaultProxy, hangs_up_while_the_server_is_still_at_work) {
  OneShot server;
  const auto result =
      exchange_with_cut(server.request(), route(), {Cut::Place::hang_up, 0, std::chrono::milliseconds(5)});
  server.join();
  EXPECT_FALSE(result.outcome);
  EXPECT_TRUE(server.whole);
  EXPECT_EQ(result.seen.answer_bytes, 0U);
}

TEST(FaultProxy, says_when_there_is_no_server) {
  const testing::OwnPort closed;
  Request request;
  request.url = {Scheme::http, "127.0.0.1", closed.number(), "/"};
  const auto result = exchange_with_cut(request, route(), {Cut::Place::answer_dropped, 0, {}});
  EXPECT_FALSE(result.outcome);
  EXPECT_NE(result.seen.trouble.find("refused"), std::string::npos) << result.seen.trouble;
}

}  // namespace
}  // namespace stet::probe
