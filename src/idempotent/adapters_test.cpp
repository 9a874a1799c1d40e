// The adapters, each under a real server on a free port of 127.0.0.1 and with a real client.

#include <gmock/gmock.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <latch>
#include <thread>

#include "library/sqlite_for_test.hpp"
#include "stet/http/beast.hpp"
#include "stet/http/httplib.hpp"
#include "stet/http/idempotent.hpp"
#include "stet/sqlite/pool.hpp"

namespace stet::http {
namespace {

class Service {
 public:
  Response charge(const Request& request) {
    const auto once = idempotent(
        options_, [this] { return pool_.transaction(); },
        [](const Request& in, sqlite::Transaction& transaction) {
          EXPECT_EQ(sqlite3_exec(transaction.handle(), "INSERT INTO charges (amount) VALUES (1)", nullptr,
                                 nullptr, nullptr),
                    SQLITE_OK);
          const auto id = std::to_string(sqlite3_last_insert_rowid(transaction.handle()));
          return Response{201,
                          {{"Content-Type", "text/plain"}, {"Link", "</a>"}, {"Link", "</b>"}},
                          id + " " + in.method + " " + in.target};
        });
    return once(request);
  }
  int charges() { return database_.charges(); }

 private:
  stores::sqlite::TestFile file_;
  library::UsersDatabase database_{file_.path()};
  sqlite::Pool pool_{file_.path(), {.durability = sqlite::PoolOptions::Durability::os}};
  Options options_{.scope = scope_of_header("X-Account")};
};

class HttplibServer {
 public:
  explicit HttplibServer(Service& service) {
    server_.Post("/charges", [&service](const ::httplib::Request& in, ::httplib::Response& out) {
      to_httplib(service.charge(from_httplib(in)), out);
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~HttplibServer() {
    server_.stop();
    thread_.join();
  }
  int port() const { return port_; }

 private:
  ::httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

class BeastServer {
 public:
  explicit BeastServer(Service& service) : service_(service), thread_([this] { serve(); }) {}
  ~BeastServer() {
    stopping_ = true;
    asio::io_context context;
    tcp::socket wake(context);
    boost::system::error_code ignored;
    wake.connect(acceptor_.local_endpoint(), ignored);
    thread_.join();
  }
  int port() const { return acceptor_.local_endpoint().port(); }

 private:
  using tcp = boost::asio::ip::tcp;
  struct asio {
    using io_context = boost::asio::io_context;
  };

  void serve() {
    while (!stopping_) {
      tcp::socket socket(context_);
      acceptor_.accept(socket);
      if (stopping_) return;  // woken up; the caller is waiting for us and will say nothing
      boost::beast::flat_buffer buffer;
      boost::system::error_code error;
      for (;;) {
        boost::beast::http::request_parser<boost::beast::http::string_body> parser;
        parser.body_limit(std::uint64_t{64} << 20U);
        boost::beast::http::read(socket, buffer, parser, error);
        if (error) break;
        const auto& in = parser.get();
        const auto out = to_beast(service_.charge(from_beast(in)), in);
        boost::beast::http::write(socket, out, error);
        if (error || !out.keep_alive()) break;
      }
    }
  }

  Service& service_;
  boost::asio::io_context context_;
  tcp::acceptor acceptor_{context_, {boost::asio::ip::make_address("127.0.0.1"), 0}};
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

template <class Server>
class Adapter : public testing::Test {
 protected:
  ::httplib::Headers headers(const std::string& key) {
    return {{"Idempotency-Key", key}, {"X-Account", "alice"}};
  }
  Service service_;
  Server server_{service_};
  ::httplib::Client client_{"127.0.0.1", server_.port()};
};
using Servers = testing::Types<HttplibServer, BeastServer>;
TYPED_TEST_SUITE(Adapter, Servers);

TYPED_TEST(Adapter, carries_a_request_and_its_answer_both_ways) {
  const auto first = this->client_.Post("/charges?a=1&b=%20", this->headers("k"), "{}", "application/json");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->status, 201);
  EXPECT_EQ(first->body, "1 POST /charges?a=1&b=%20");
  EXPECT_EQ(first->get_header_value("Stet-Outcome"), "completed");
  for (int i = 0; i < 2; ++i) {
    const auto again =
        this->client_.Post("/charges?a=1&b=%20", this->headers("\"k\""), " { } ", "application/json");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->status, 201);
    EXPECT_EQ(again->body, first->body);
    EXPECT_EQ(again->get_header_value("Idempotent-Replayed"), "true");
    EXPECT_EQ(again->get_header_value("Content-Type"), "text/plain");
    EXPECT_EQ(again->get_header_value_count("Link"), 2U);
    EXPECT_EQ(again->get_header_value_count("Content-Length"), 1U);
  }
  EXPECT_EQ(this->service_.charges(), 1);
}

TYPED_TEST(Adapter, shows_problems) {
  const auto missing = this->client_.Post("/charges", {{"X-Account", "alice"}}, "{}", "application/json");
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->status, 400);
  EXPECT_EQ(missing->get_header_value("Content-Type"), "application/problem+json");
  this->client_.Post("/charges", this->headers("k"), "{}", "application/json");
  for (int i = 0; i < 2; ++i) {
    const auto reused = this->client_.Post("/charges", this->headers("k"), "[]", "application/json");
    ASSERT_TRUE(reused);
    EXPECT_EQ(reused->status, 422);
  }
  EXPECT_EQ(this->service_.charges(), 1);
}

TYPED_TEST(Adapter, tells_two_uploads_apart_and_one_upload_with_another_boundary_not) {
  const auto upload = [&](const std::string& content) {
    const ::httplib::MultipartFormDataItems parts{{"file", content, "a.txt", "text/plain"},
                                                  {"note", "x", "", ""}};
    return this->client_.Post("/charges", this->headers("k"), parts);  // a new boundary each time
  };
  ASSERT_TRUE(upload("one"));
  EXPECT_EQ(upload("one")->get_header_value("Stet-Outcome"), "replayed");
  EXPECT_EQ(upload("two")->status, 422);
  EXPECT_EQ(this->service_.charges(), 1);
}

TYPED_TEST(Adapter, carry_bodies_of_every_size_and_the_bytes_of_a_header) {
  ::httplib::Headers headers = this->headers("empty");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(this->client_.Post("/charges", headers, "", "")->status, 201);
  std::string large(std::size_t{10} << 20U, 'x');
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(this->client_.Post("/charges", this->headers("large"), large, "text/plain")->status, 201);
  }
  large.back() = 'y';
  EXPECT_EQ(this->client_.Post("/charges", this->headers("large"), large, "text/plain")->status, 422);
  for (int i = 0; i < 2; ++i) {
    headers = {{"Idempotency-Key", "bytes"}, {"X-Account", "\xe9\xff\x80"}};
    EXPECT_EQ(this->client_.Post("/charges", headers, "{}", "application/json")->status, 201);
  }
  EXPECT_EQ(this->service_.charges(), 3);
}

TYPED_TEST(Adapter, take_keys_up_to_255_bytes_and_one_line_of_them) {
  for (const auto& [key, status] : std::vector<std::pair<std::string, int>>{{"k", 201},
                                                                            {std::string(255, 'k'), 201},
                                                                            {std::string(256, 'k'), 400},
                                                                            {"\"k k\"", 201},
                                                                            {"k\xc3\xa9", 400},
                                                                            {"a,b", 400}}) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(this->client_.Post("/charges", this->headers(key), "{}", "application/json")->status, status)
          << key;
    }
  }
  for (const char* second : {"k", "l"}) {
    ::httplib::Headers twice = this->headers("k");
    twice.insert({"idempotency-key", second});
    EXPECT_EQ(this->client_.Post("/charges", twice, "{}", "application/json")->status, 400);
  }
  EXPECT_EQ(this->service_.charges(), 3);
}

TYPED_TEST(Adapter, run_the_work_once_for_many_connections_at_once) {
  constexpr int kCallers = 6;
  std::latch go(kCallers);
  std::atomic<int> answered = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&] {
        ::httplib::Client client("127.0.0.1", this->server_.port());
        go.arrive_and_wait();
        const auto answer = client.Post("/charges", this->headers("k"), "{}", "application/json");
        if (answer && answer->status == 201 && answer->body == "1 POST /charges") ++answered;
      });
    }
  }
  EXPECT_EQ(answered, kCallers);
  EXPECT_EQ(this->service_.charges(), 1);
}

// What the libraries would write as they are given it: a second length, a line of somebody else's, a body
// that nobody reads and that is taken for the next answer.
const Response kOdd{201,
                    {{"Content-Length", "3"},
                     {"transfer-encoding", "chunked"},
                     {"Location", "/a\r\nSet-Cookie: admin=1"},
                     {"A\nB", "c"},
                     {"Link", "</a>"},
                     {"Link", "</b>"}},
                    "hello world"};

TEST(Beast, is_brought_no_line_that_breaks_the_answer_and_no_body_where_there_is_none) {
  const boost::beast::http::request<boost::beast::http::string_body> in{boost::beast::http::verb::post, "/",
                                                                        11};
  const auto out = to_beast(kOdd, in);
  EXPECT_EQ(out["Content-Length"], "11");
  EXPECT_EQ(out.count("Content-Length"), 1U);
  EXPECT_EQ(out.count("Link"), 2U);
  EXPECT_EQ(std::distance(out.begin(), out.end()), 3);
  for (const int status : {204, 304})
    EXPECT_EQ(to_beast({status, {}, "x"}, in).body(), "") << "Beast would throw";
}

TEST(Httplib, is_brought_no_line_that_breaks_the_answer_and_no_body_where_there_is_none) {
  ::httplib::Response out;
  to_httplib(kOdd, out);
  EXPECT_EQ(out.headers.size(), 2U);
  EXPECT_EQ(out.get_header_value_count("Link"), 2U);
  EXPECT_EQ(out.body, "hello world");
  for (const int status : {204, 304}) {
    ::httplib::Response none;
    to_httplib({status, {}, "x"}, none);
    EXPECT_EQ(none.body, "");
  }
}

}  // namespace
}  // namespace stet::http
