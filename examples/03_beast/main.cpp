// The same under Boost.Beast, and with a connection of your own for each thread instead of a pool's.
//
//   example_03_beast FILE      serves on a free port of 127.0.0.1, which it prints

#include <sqlite3.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "stet/http/beast.hpp"
#include "stet/http/idempotent.hpp"
#include "stet/sqlite/transaction.hpp"

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;

// A thread's connection and the session beside it, which ends first.
struct Database {
  explicit Database(const std::string& path) {
    if (sqlite3_open(path.c_str(), &handle) != SQLITE_OK) throw std::runtime_error("cannot open " + path);
    sqlite3_busy_timeout(handle, 5000);
    run("PRAGMA journal_mode = WAL");
    run("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL)");
    stet::sqlite::apply_schema(handle);
    session = std::make_unique<stet::sqlite::Session>(handle);
  }
  ~Database() {
    session.reset();
    sqlite3_close(handle);
  }
  void run(const std::string& sql) const {
    if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sqlite3_errmsg(handle));
    }
  }
  sqlite3* handle = nullptr;
  std::unique_ptr<stet::sqlite::Session> session;
};

void serve(tcp::socket socket, const std::string& path) {
  const Database database(path);
  const auto create_order = stet::http::idempotent(
      {.scope = stet::http::scope_of_header("X-Account")},
      [&] { return stet::sqlite::Transaction(database.handle, *database.session); },
      [&](const stet::http::Request& request, stet::sqlite::Transaction&) {
        database.run("INSERT INTO orders (bytes) VALUES (" + std::to_string(request.body.size()) + ")");
        return stet::http::Response{201, {}, "order " + std::to_string(sqlite3_last_insert_rowid(database.handle)) + "\n"};
      });

  beast::flat_buffer buffer;
  beast::error_code error;
  for (;;) {
    beast::http::request<beast::http::string_body> in;
    beast::http::read(socket, buffer, in, error);
    if (error) return;
    const auto out = stet::http::to_beast(create_order(stet::http::from_beast(in)), in);
    beast::http::write(socket, out, error);
    if (error || !out.keep_alive()) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s FILE\n", argv[0]), 2;
  const std::string path = argv[1];
  asio::io_context context;
  tcp::acceptor acceptor(context, {asio::ip::make_address("127.0.0.1"), 0});
  std::printf("http://127.0.0.1:%d\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  for (;;) {
    tcp::socket socket(context);
    acceptor.accept(socket);
    std::thread([socket = std::move(socket), path]() mutable {
      try {
        serve(std::move(socket), path);
      } catch (const std::exception& failed) {
        std::fprintf(stderr, "%s\n", failed.what());  // the connection closes; whoever retries is safe
      }
    }).detach();
  }
}
