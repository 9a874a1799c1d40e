#include "gateway/reconciler.hpp"

#include "gateway/ask_upstream.hpp"
#include "gateway/store_call.hpp"
#include "stet/decide.hpp"

namespace stet::gateway {
namespace {

using namespace std::chrono_literals;

// A crash leaves its records to the first pass after the restart; later ones are rare. Between passes a retry
// settles its own record anyway.
constexpr std::chrono::milliseconds kEvery = 15s;
constexpr std::size_t kPage = 500;
constexpr std::chrono::milliseconds kFirstPause = 5s;
constexpr std::chrono::milliseconds kLongestPause = 10min;

}  // namespace

Task<void> Reconciler::run() {
  Timer timer(station_.worker.executor());
  for (;;) {
    co_await pass();
    timer.expires_after(about(kEvery));
    co_await timer.async_wait(as_result);
  }
}

// Several gateways may share the store and have been started together: they do not go in step, and whoever
// comes later finds settled what the first one has settled.
std::chrono::milliseconds Reconciler::about(std::chrono::milliseconds time) {
  return time * std::uniform_int_distribution<int>(70, 130)(random_) / 100;
}

Task<void> Reconciler::pass() {
  for (auto& [id, asked] : asked_) asked.seen = false;
  std::string cursor;
  do {
    Filter filter;
    filter.state = State::pending;
    filter.lease = Filter::Lease::lapsed;
    const auto page = co_await list(station_, std::move(filter), kPage, std::move(cursor));
    if (!page) co_return;  // the store is away: the next pass finds the same rows
    for (const Record& record : page->records) co_await settle(record);
    cursor = page->next;
  } while (!cursor.empty());
  std::erase_if(asked_, [](const auto& entry) { return !entry.second.seen; });
}

Task<void> Reconciler::settle(const Record& record) {
  // Its owner here renews it, or is about to store its end.
  if (station_.shared.running.runs(record.id()) == RunsHere::yes) co_return;
  const config::Route& route = station_.snapshot->find(record.method, record.path).route;
  Reconcile what = reconcile(record, route.policy.promise);
  if (what == Reconcile::ask && route.reconcile_url.empty()) what = Reconcile::settle_unknown;
  switch (what) {
    case Reconcile::leave:
      co_return;
    case Reconcile::settle_unknown:
      co_await execute(station_, command::SettleUnknown{record.token, command::SettleUnknown::By::observer});
      co_return;
    case Reconcile::release:
      co_await execute(station_, command::Settle{record.token, Nonce::random(), std::nullopt});
      co_return;
    case Reconcile::ask:
      co_await ask(record, route);
      co_return;
  }
}

Task<void> Reconciler::ask(const Record& record, const config::Route& route) {
  const MonoTime now = std::chrono::steady_clock::now();
  Asked& entry = asked_.try_emplace(record.id(), Asked{now, kFirstPause}).first->second;
  entry.seen = true;
  if (entry.next > now) co_return;
  entry.pause = std::min(entry.pause * 2, kLongestPause);
  entry.next = now + about(entry.pause);
  const AskVerdict verdict = co_await ask_upstream(station_, station_.snapshot, route, record.token);
  if (const auto* completed = std::get_if<asked::Completed>(&verdict)) {
    co_await execute(station_, command::Complete{record.token, completed->answer, std::nullopt});
  }
  // A promise that it never ran is left to the next attempt, which gets it again and takes over with the next
  // number. Freed here, the key would begin again at attempt 1, which the upstream has just promised to
  // refuse.
}

}  // namespace stet::gateway
