#include "probe/testing.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "probe/json.hpp"
#include "probe/request_reader.hpp"

namespace stet::probe::testing {
namespace {

constexpr std::chrono::milliseconds kWork{8};
constexpr std::chrono::milliseconds kBusy{150};  // much more than twice the work

std::string http(int status, const std::string& body, const std::string& fields = "") {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: application/json\r\n" + fields +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string header_or(const Request& request, std::string_view name, const std::string& otherwise) {
  const std::string* value = find_header(request.headers, name);
  return value != nullptr ? *value : otherwise;
}

int count_header(const Request& request, std::string_view name) {
  int count = 0;
  for (const Header& header : request.headers) count += same_name(header.name, name) ? 1 : 0;
  return count;
}

// Member order and whitespace do not matter: two respellings reverse the order twice.
std::string canonical(const std::string& body) {
  const std::string once = respell(body).value_or(body);
  const std::string twice = respell(once).value_or(once);
  return std::min(once, twice);
}

}  // namespace

ToyApi::ToyApi(Flaw flaw, EffectKind kind)
    : flaw_(flaw), kind_(kind), listener_({"127.0.0.1", 0}), acceptor_([this] { accept_all(); }) {}

ToyApi::~ToyApi() {
  stopping_ = true;
  listener_.stop();
  acceptor_.join();
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

Settings ToyApi::settings() const {
  Settings settings;
  settings.request.url = {Scheme::http, "127.0.0.1", listener_.endpoint().port, "/things"};
  settings.request.body = R"({"amount":4900,"note":"{{uuid}}"})";
  settings.request.headers = {{"Authorization", "Bearer a"}, {"Content-Type", "application/json"}};
  settings.other = settings.request;
  settings.other->url.target = "/others";
  settings.other_auth = {{"Authorization", "Bearer b"}};
  settings.bad_body = R"({"amount":-1})";
  if (kind_ == EffectKind::own) {
    settings.effects.request = "GET /effects";
  } else {
    settings.effects.sink = "127.0.0.1:0";
  }
  settings.concurrency = 8;
  settings.rounds = 3;
  settings.patience = std::chrono::seconds(2);
  settings.request_timeout = std::chrono::seconds(20);
  settings.timeout = std::chrono::seconds(200);
  settings.settling = {std::chrono::milliseconds(30), std::chrono::seconds(1)};
  return settings;
}

void ToyApi::accept_all() {
  for (int connection = 0; !stopping_; ++connection) {
    const int fd = listener_.accept(Clock::now() + std::chrono::hours(1));
    if (fd < 0) continue;
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([this, fd, connection] { serve(fd, connection); });
  }
}

void ToyApi::serve(int fd, int connection) {
  Wire wire = Wire::adopt(fd);
  std::string rest;
  while (!stopping_) {
    if (rest.empty() && !wire.readable(Clock::now() + std::chrono::milliseconds(20))) continue;
    if (rest.empty()) {
      const auto bytes = wire.receive(Clock::now() + std::chrono::seconds(5));
      if (!bytes || bytes->empty()) return;
      rest = *bytes;
    }
    const auto request = read_request(wire, rest, Clock::now() + std::chrono::seconds(5));
    if (!request) {
      // The whole head and some of the body had come: this flaw is content with that.
      if (flaw_ == Flaw::acts_on_half_a_request) act({});
      return;
    }
    if (!wire.send(respond(*request, connection, wire), Clock::now() + std::chrono::seconds(5))) return;
  }
}

std::string ToyApi::respond(const Request& request, int connection, const Wire& wire) {
  if (request.method == "GET") return http(200, std::to_string(effects()));
  std::string key = header_or(request, "Idempotency-Key", "");
  if (key.size() >= 2 && key.front() == '"' && key.back() == '"') key = key.substr(1, key.size() - 2);
  const bool odd = count_header(request, "Idempotency-Key") != 1 || key.empty() || key.size() > 255;
  if (odd && flaw_ != Flaw::accepts_odd_keys && flaw_ != Flaw::ignores_keys)
    return http(400, R"({"error":"key"})");
  if (request.body.find("\"amount\":-1") != std::string::npos) {
    const std::lock_guard lock(mutex_);
    const bool again = !refused_.insert(key).second;
    if (again && flaw_ == Flaw::fails_differently_on_retry) return http(409, R"({"error":"key used"})");
    return http(422, R"({"error":"amount"})");
  }
  if (flaw_ == Flaw::ignores_keys || odd) return act(request);
  if (flaw_ == Flaw::ignores_case) {
    for (char& c : key) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (flaw_ == Flaw::cuts_long_keys) key = key.substr(0, 64);
  if (flaw_ == Flaw::hashes_parameters) key = request.body;
  const std::string caller = flaw_ == Flaw::one_scope_for_all ? "" : header_or(request, "Authorization", "");
  const std::string route = flaw_ == Flaw::replays_on_any_route ? "" : request.url.target;
  const std::string where = flaw_ == Flaw::forgets_across_connections ? std::to_string(connection) : "";
  return keyed(request, caller + "\n" + route + "\n" + where + "\n" + key, wire);
}

std::string ToyApi::keyed(const Request& request, const std::string& place, const Wire& wire) {
  const std::string meaning = flaw_ == Flaw::compares_bytes ? request.body : canonical(request.body);
  const bool late = flaw_ == Flaw::starts_late_when_nobody_listens;
  if (late && wire.readable(Clock::now() + kWork / 2)) std::this_thread::sleep_for(kBusy);
  std::unique_lock lock(mutex_);
  if (flaw_ == Flaw::looks_then_acts) {
    if (!kept_.contains(place)) {
      lock.unlock();
      const std::string answer = act(request);
      lock.lock();
      kept_[place] = {meaning, answer};
      return answer;
    }
  } else if (const auto [claimed, won] = kept_.try_emplace(place, Kept{meaning, ""}); won) {
    lock.unlock();
    const std::string answer = act(request);
    lock.lock();
    const bool passing = answer.starts_with("HTTP/1.1 5") && flaw_ != Flaw::pins_passing_errors;
    const bool unheard = flaw_ == Flaw::forgets_when_nobody_listens && wire.readable(Clock::now());
    if (passing || unheard) {
      kept_.erase(place);
    } else {
      kept_[place].answer = answer;
    }
    finished_.notify_all();
    return answer;
  }
  const Kept& kept = kept_[place];
  if (kept.meaning != meaning && flaw_ != Flaw::replays_any_payload)
    return http(422, R"({"error":"key reused"})");
  if (kept.answer.empty()) return http(409, R"({"error":"in progress"})", "Retry-After: 1\r\n");
  if (late) return http(201, R"({"id":"again"})", "Location: " + request.url.target + "\r\n");
  return flaw_ == Flaw::bare_replay ? http(200, "{}") : kept.answer;
}

std::string ToyApi::act(const Request& request) {
  std::this_thread::sleep_for(kWork);
  if (kind_ == EffectKind::downstream) {
    const char* sink = std::getenv("STET_PROBE_SINK");
    Request call;
    call.url = parse_url(sink != nullptr ? sink : "http://127.0.0.1:1").value();
    const Outcome outcome = exchange(call, Route{});
    if (!outcome || outcome->status != 200)
      return http(503, R"({"error":"downstream"})", "Retry-After: 1\r\n");
  }
  const std::int64_t number = ++effects_;
  return http(201, R"({"id":"thing-)" + std::to_string(100'000 + number) + "\"}",
              "Location: " + request.url.target + "/" + std::to_string(number) + "\r\n");
}

// Who else binds or connects gets another port; who sets SO_REUSEADDR, as servers do, may listen on this one.
OwnPort::OwnPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (fd_ < 0 || ::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 || ::bind(fd_, any, size) != 0 ||
      ::getsockname(fd_, any, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "a port of one's own");
  }
  number_ = ntohs(address.sin_port);
}

OwnPort::~OwnPort() { ::close(fd_); }

Finding probe_with(const Check& check, const Settings& settings) {
  Settings one = settings;
  one.only = {std::string(check.name)};
  const Report report = run(one);
  EXPECT_EQ(report.no_verdict, "");
  EXPECT_EQ(report.findings.size(), 1U);
  return report.findings.empty() ? Finding{} : report.findings.front();
}

Finding probe_with(const Check& check, Flaw flaw) {
  const ToyApi api(flaw);
  return probe_with(check, api.settings());
}

}  // namespace stet::probe::testing
