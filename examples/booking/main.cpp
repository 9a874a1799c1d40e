// booking [--listen 127.0.0.1:8090] [--store sqlite:booking.db|postgresql://…] [--provider
// http://127.0.0.1:8091]
//         [--webhook-secret S] [--lease-ms 5000]

#include <csignal>
#include <cstdio>
#include <map>
#include <thread>

#include "service.hpp"
#include "stet/sweeper.hpp"

namespace {

booking::Options read_options(int argc, char** argv) {
  booking::Options options;
  std::map<std::string, std::function<void(const char*)>> known{
      {"--listen", [&](const char* value) { options.listen = value; }},
      {"--store", [&](const char* value) { options.store = value; }},
      {"--provider", [&](const char* value) { options.provider = value; }},
      {"--webhook-secret", [&](const char* value) { options.webhook_secret = value; }},
      {"--lease-ms", [&](const char* value) { options.lease = std::chrono::milliseconds(std::stoi(value)); }},
  };
  for (int i = 1; i < argc; i += 2) {
    const auto option = known.find(argv[i]);
    if (option == known.end() || i + 1 == argc) {
      throw std::runtime_error(std::string(argv[i]) + " is no option, or lacks its value");
    }
    option->second(argv[i + 1]);
  }
  return options;
}

// Trap: cpp-httplib lets five callers wait to be accepted. More at the same moment are dropped, and come
// again a second later.
class Server : public httplib::Server {
 public:
  void let_many_wait() { ::listen(svr_sock_, 512); }
};

// SIGINT and SIGTERM are blocked in every thread that starts later; one of them waits for them.
sigset_t hold_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return set;
}

void say(std::string_view line) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

void serve(const booking::Options& options) {
  const sigset_t signals = hold_signals();
  const auto database = booking::open_database(options.store);
  const booking::Provider provider(options.provider);
  stet::Renewer renewer;
  booking::Payments payments(*database, provider, renewer, options.lease);

  // Trap: relying on clients to come back. What a crash left is brought to its end without them; what is past
  // its retention is swept, or the table grows for ever.
  stet::Completer completer = payments.completer(say);
  stet::Sweeper sweeper(database->pool(), {.notice = say});
  const std::jthread completing([&](const std::stop_token& stop) { completer.run(stop); });
  const std::jthread sweeping([&](const std::stop_token& stop) { sweeper.run(stop); });

  Server server;
  // A thread for each connection: those who wait for another copy of their own request occupy one.
  server.new_task_queue = [] { return new httplib::ThreadPool(32); };
  server.set_tcp_nodelay(true);
  server.set_payload_max_length(64 * 1024);
  server.set_keep_alive_timeout(1);
  booking::add_routes(server, *database, payments, options);

  const auto colon = options.listen.rfind(':');
  const std::string host = options.listen.substr(0, colon);
  const int wanted = std::stoi(options.listen.substr(colon + 1));
  const int port = wanted == 0                         ? server.bind_to_any_port(host)
                   : server.bind_to_port(host, wanted) ? wanted
                                                       : -1;
  if (port < 0) throw std::runtime_error("cannot listen on " + options.listen);
  server.let_many_wait();
  std::printf("booking at http://%s:%d\n", host.c_str(), port);
  std::fflush(stdout);
  std::jthread stopping([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    // Trap: before it runs, stop() does nothing, and no second signal will come.
    while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    server.stop();  // finishes what has begun
  });
  server.listen_after_bind();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    serve(read_options(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "booking: %s\n", error.what());
    return 1;
  }
}
