#include "gateway/upstream_pool.hpp"

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/post.hpp>
#include <charconv>

namespace stet::gateway {
namespace {

using namespace std::chrono_literals;

// Node closes after 5 s and says so, others after 2 s and do not: without a word from the upstream, less than both
// for what is common, and a moment for keyed writes.
constexpr std::chrono::milliseconds kIdleUnlessSaid = 4s;
constexpr std::chrono::milliseconds kIdleAtMost = 60s;
constexpr std::chrono::milliseconds kIdleForKeyed = 1s;
constexpr std::chrono::milliseconds kMargin = 1s;  // before the time that the upstream named
constexpr std::size_t kIdleConnections = 512;      // for each upstream and worker
constexpr std::chrono::seconds kNamesAreGoodFor{10};
constexpr std::size_t kConnectingAtOnce = 64;      // for each worker; common backlogs are 128 and 511

// "timeout=5, max=100" → 5 s.
std::optional<std::chrono::milliseconds> named_timeout(std::optional<std::string_view> keep_alive) {
  if (!keep_alive) return std::nullopt;
  const std::size_t at = keep_alive->find("timeout=");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = keep_alive->substr(at + 8);
  std::uint32_t seconds = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), seconds).ec != std::errc{}) return std::nullopt;
  return std::chrono::seconds(seconds);
}

}  // namespace

UpstreamPool::Shelf& UpstreamPool::shelf(const config::UpstreamUrl& url) {
  for (Shelf& known : idle_) {
    if (known.port == url.port && known.scheme == url.scheme && known.host == url.host) return known;
  }
  return idle_.emplace_back(Shelf{url.scheme, url.host, url.port, {}});
}

UpstreamLinkPtr UpstreamPool::take_idle(const config::UpstreamUrl& url, Use use) {
  auto& idle = shelf(url).idle;
  const MonoTime now = std::chrono::steady_clock::now();
  while (!idle.empty()) {
    Idle last = std::move(idle.back());
    idle.pop_back();
    const auto age = now - last.since;
    if (age >= last.link->idle_limit || last.link->link.look() != Link::Idle::quiet) continue;
    if (use == Use::keyed && age >= kIdleForKeyed) {
      idle.push_back(std::move(last));
      return nullptr;
    }
    return std::move(last.link);
  }
  return nullptr;
}

void UpstreamPool::give_back(const config::UpstreamUrl& url, UpstreamLinkPtr link,
                             std::optional<std::string_view> keep_alive) {
  auto& idle = shelf(url).idle;
  if (idle.size() >= kIdleConnections || !link->in.empty()) return;
  if (link->tls && link->tls != tls_) return;
  const auto named = named_timeout(keep_alive);
  link->idle_limit = named ? std::min(*named - kMargin, kIdleAtMost) : kIdleUnlessSaid;
  link->link.due_never();
  link->in.shrink();
  idle.push_back({std::move(link), std::chrono::steady_clock::now()});
  next_turn();
}

void UpstreamPool::drop_old(MonoTime now) {
  for (Shelf& shelf : idle_) {
    std::erase_if(shelf.idle, [now](const Idle& idle) { return now - idle.since >= idle.link->idle_limit; });
  }
}

Task<Expected<std::vector<asio::ip::address>, std::string>> UpstreamPool::resolve(const std::string& host) {
  error_code not_literal;
  const asio::ip::address literal = asio::ip::make_address(host, not_literal);
  if (!not_literal) co_return std::vector<asio::ip::address>{literal};
  const MonoTime now = std::chrono::steady_clock::now();
  std::erase_if(resolved_, [now](const Resolved& old) { return old.until <= now; });
  for (const Resolved& known : resolved_) {
    if (known.host == host) co_return known.addresses;
  }
  asio::ip::basic_resolver<tcp, Executor> resolver(worker_.executor());
  const auto [error, found] = co_await resolver.async_resolve(host, "", as_result);
  if (error) co_return unexpected("the name " + host + " does not resolve (" + error.message() + ")");
  std::vector<asio::ip::address> addresses;
  for (const auto& entry : found) addresses.push_back(entry.endpoint().address());
  resolved_.push_back({host, now + kNamesAreGoodFor, addresses});
  co_return addresses;
}

// Whoever waits longest goes on in a turn of its own.
void UpstreamPool::next_turn() {
  if (waiting_.empty()) return;
  asio::post(worker_.executor(), [gate = waiting_.front()] { gate->open(); });
  waiting_.pop_front();
}

class UpstreamPool::Connecting {
 public:
  explicit Connecting(UpstreamPool& pool) : pool_(pool) { ++pool_.connecting_; }
  Connecting(const Connecting&) = delete;
  Connecting& operator=(const Connecting&) = delete;
  ~Connecting() {
    --pool_.connecting_;
    pool_.next_turn();
  }

 private:
  UpstreamPool& pool_;
};

Task<Expected<UpstreamLinkPtr, std::string>> UpstreamPool::connect(const config::UpstreamUrl& url, Use use,
                                                                   std::shared_ptr<const UpstreamTls> tls) {
  while (connecting_ >= kConnectingAtOnce) {
    Gate turn;
    waiting_.push_back(&turn);
    co_await turn.wait();
    if (auto idle = take_idle(url, use)) {
      next_turn();  // ours was not needed: nobody may be left waiting for a turn that never ends
      co_return std::move(idle);
    }
  }
  const Connecting holding(*this);
  co_return co_await connect_now(url, std::move(tls));
}

Task<Expected<UpstreamLinkPtr, std::string>> UpstreamPool::connect_now(const config::UpstreamUrl& url,
                                                                       std::shared_ptr<const UpstreamTls> tls) {
  const auto addresses = co_await resolve(url.host);
  if (!addresses) {
    metrics_.upstream_connect_failures.add();
    co_return unexpected(addresses.error());
  }
  std::string why = "the name has no address";
  const MonoTime deadline = std::chrono::steady_clock::now() + kConnectTimeout;
  for (const asio::ip::address& address : *addresses) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= 0s) break;
    auto connecting = std::make_unique<UpstreamLink>(worker_, Socket(worker_.executor()), metrics_.upstream_connections);
    Link& link = connecting->link;
    link.due_in(std::chrono::duration_cast<std::chrono::milliseconds>(left));
    const auto [error] = co_await link.socket().async_connect(tcp::endpoint(address, url.port), as_result);
    if (error) {
      why = link.timed_out() ? "connecting took too long" : "connecting failed (" + error.message() + ")";
      continue;
    }
    link.prepare();
    if (url.scheme == config::UpstreamUrl::Scheme::https) {
      const auto secured = co_await tls->start(link, url.host);
      if (!secured) {
        why = link.timed_out() ? "the TLS handshake took too long" : secured.error();
        continue;
      }
      connecting->tls = std::move(tls);
    }
    link.due_never();
    metrics_.upstream_connects.add();
    co_return std::move(connecting);
  }
  metrics_.upstream_connect_failures.add();
  co_return unexpected(std::move(why));
}

}  // namespace stet::gateway
