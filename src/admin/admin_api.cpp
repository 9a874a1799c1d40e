#include "admin/admin_api.hpp"

#include <algorithm>

#include "admin/json_text.hpp"
#include "admin/list_query.hpp"
#include "admin/log_line.hpp"
#include "admin/request_guard.hpp"
#include "admin/sweep_request.hpp"
#include "config/route_table.hpp"

namespace stet::admin {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kOperations = "/api/operations/";
constexpr std::string_view kSettle = "/settle";
// One request sweeps at most so much, so that it ends within its patience.
constexpr std::size_t kSweepSlices = 100;
// Whoever has more unknown operations than this does not need the exact number.
constexpr std::size_t kMostCounted = 1000;

Answer not_found() {
  return problem_answer(404, "Nothing is served at this path.");
}
Answer no_operation() {
  return problem_answer(404, "No operation has this id: it was released, swept, or never there.",
                        "no-operation");
}

Answer not_allowed(std::string_view allowed) {
  Answer answer = problem_answer(405, "This path does not take this method.");
  answer.headers.push_back({"Allow", std::string(allowed)});
  return answer;
}

Answer store_problem(const Store::Failed& failed) {
  switch (failed.kind) {
    case StoreFailure::corrupt:
      return problem_answer(500, "The store cannot read this record: " + failed.what, "store-corrupt");
    case StoreFailure::full:
      return problem_answer(507, "The store has no room: " + failed.what, "store-full");
    case StoreFailure::unavailable:
    case StoreFailure::not_written:
    case StoreFailure::incompatible:
      break;
  }
  return problem_answer(503, "The store does not answer: " + failed.what, "store-unavailable");
}

std::string_view word(SettleRefusal refusal) {
  switch (refusal) {
    case SettleRefusal::settled_already:
      return "settled-already";
    case SettleRefusal::still_owned:
      return "still-owned";
    case SettleRefusal::too_fresh:
      return "too-fresh";
  }
  return "refused";
}

Answer readiness(std::string_view reason) {
  JsonObject body;
  body.add_raw("ready", reason.empty() ? "true" : "false");
  if (!reason.empty()) body.add("reason", reason);
  return json_answer(reason.empty() ? 200 : 503, body.take());
}

WallTime now() {
  return std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
}

}  // namespace

void AdminApi::answer(const AdminRequest& request, Done done) {
  if (auto refused = refuse(*config_, request)) return done(std::move(*refused));
  const std::string_view path = request.head.path();
  const bool reads = request.head.method == "GET" || request.head.method == "HEAD";
  const bool changes = request.head.method == "POST";

  if (path == "/api/sweep") return changes ? sweep(request.body, std::move(done)) : done(not_allowed("POST"));
  if (path.starts_with(kOperations)) {
    std::string_view name = path.substr(kOperations.size());
    const bool settles = name.ends_with(kSettle);
    if (settles) name.remove_suffix(kSettle.size());
    const auto id = OperationId::parse(name);
    if (!id) return done(no_operation());
    if (settles) return changes ? settle(*id, request.body, std::move(done)) : done(not_allowed("POST"));
    return reads ? show(*id, std::move(done)) : done(not_allowed("GET, HEAD"));
  }
  const bool known = path == "/livez" || path == "/readyz" || path == "/metrics" || path == "/api/operations";
  if (!known) return done(not_found());
  if (!reads) return done(not_allowed("GET, HEAD"));
  if (path == "/livez") return done(text_answer(200, "text/plain; charset=utf-8", "ok\n"));
  if (path == "/readyz") return ready(std::move(done));
  if (path == "/metrics") return metrics(std::move(done));
  list(request.head, std::move(done));
}

// Below the time-outs of those who ask: a scraper gives up after ten seconds, a health check often sooner.
milliseconds AdminApi::patience(const AdminRequest& request) {
  if (request.head.path() == "/metrics") return 1s;
  return request.head.path() == "/readyz" ? 2s : 20s;
}

Answer AdminApi::late(const AdminRequest& request) {
  if (request.head.path() == "/readyz") return readiness("store-unavailable");
  if (request.head.path() == "/metrics") return metrics_text();
  return problem_answer(503, "The store has not answered in time; whether a change was made is not known.",
                        "store-unavailable");
}

std::uint64_t AdminApi::body_limit() const {
  std::uint64_t answer = config_->defaults.max_response_body;
  for (const config::Route& route : config_->routes) answer = std::max(answer, route.max_response_body);
  return answer / 3 * 4 + (64 << 10);  // base64, and as much again as an answer's head may have
}

// An operation that cannot be there: asking for it costs one look-up and shows that the store answers.
void AdminApi::ready(Done done) {
  if (parts_.metrics.process.draining.value() != 0) return done(readiness("draining"));
  parts_.committer.find(OperationId{}, [post = post_, done = std::move(done)](const auto& found) {
    const bool answered = found.has_value() || found.error().kind == StoreFailure::corrupt;
    post([done, answered] { done(readiness(answered ? "" : "store-unavailable")); });
  });
}

// Metrics have to be there above all when the store is not: what it does not say stays as it was.
void AdminApi::metrics(Done done) {
  Filter unknown;
  unknown.state = State::unknown;
  parts_.committer.list(unknown, kMostCounted, {},
                        [this, post = post_, done = std::move(done)](const auto& page) {
                          std::optional<std::size_t> count;
                          if (page) count = page->records.size();
                          post([this, count, done] {
                            if (count) parts_.metrics.store.unknown.set(static_cast<std::int64_t>(*count));
                            done(metrics_text());
                          });
                        });
}

Answer AdminApi::metrics_text() {
  parts_.metrics.store.queued.set(static_cast<std::int64_t>(parts_.committer.stats().waiting));
  return text_answer(200, "text/plain; version=0.0.4; charset=utf-8", parts_.metrics.text());
}

void AdminApi::list(const http::RequestHead& head, Done done) {
  auto query = parse_list_query(head.query());
  if (!query) return done(problem_answer(400, query.error()));
  parts_.committer.list(query->filter, query->limit, query->cursor,
                        [post = post_, done = std::move(done), cursor = query->cursor](auto page) {
                          post([done, cursor, page = std::move(page)] {
                            if (page) return done(json_answer(200, page_json(*page)));
                            // A list writes nothing: what the store refused is what came with the request.
                            const bool refused =
                                page.error().kind == StoreFailure::not_written && !cursor.empty();
                            done(refused ? problem_answer(400, "`cursor`: " + page.error().what + ".")
                                         : store_problem(page.error()));
                          });
                        });
}

void AdminApi::find(const OperationId& id, Done done, std::function<void(std::optional<Record>)> then) {
  parts_.committer.find(id, [post = post_, done = std::move(done), then = std::move(then)](auto found) {
    post([done, then, found = std::move(found)] {
      found ? then(*found) : done(store_problem(found.error()));
    });
  });
}

void AdminApi::submit(Command command, Done done, std::function<void(Result)> then) {
  parts_.committer.submit(std::move(command), [post = post_, done = std::move(done),
                                               then = std::move(then)](Store::Outcome outcome) {
    post([done, then, outcome = std::move(outcome)] {
      const auto* failed = std::get_if<Store::Failed>(&outcome);
      failed == nullptr ? then(std::get<Result>(outcome)) : done(store_problem(*failed));
    });
  });
}

void AdminApi::show(const OperationId& id, Done done) {
  find(id, done, [done](const std::optional<Record>& record) {
    done(record ? json_answer(200, operation_json(*record, Detail::whole)) : no_operation());
  });
}

void AdminApi::settle(const OperationId& id, const std::string& body, Done done) {
  auto request = parse_settle(body);
  if (!request) return done(problem_answer(400, request.error()));
  find(id, done, [this, done, request = std::move(*request)](const std::optional<Record>& record) {
    record ? settle_found(*record, request, done) : done(no_operation());
  });
}

void AdminApi::settle_found(const Record& record, const SettleRequest& request, Done done) {
  const config::Route& route = config::RouteTable(*config_).find(record.method, record.path);
  auto planned = plan_settle(record, request, now(), route.policy.completion_timeout);
  if (!planned) return done(problem_answer(409, explain(planned.error()), word(planned.error())));

  const OperationId id = record.id();
  submit(std::move(*planned), done, [this, id, done, released = !request.answer](const Result& result) {
    if (!std::holds_alternative<result::Ok>(result)) {
      return done(problem_answer(409, "The operation has moved on meanwhile; look at it again.", "moved-on"));
    }
    parts_.log.event(Level::info, "settled", "An operator has settled an operation.",
                     {{"operation", id.text()}, {"how", released ? "released" : "answered"}});
    find(id, done, [id, done](const std::optional<Record>& after) {
      if (after) return done(json_answer(200, operation_json(*after, Detail::line)));
      JsonObject gone;
      gone.add("id", id.text());
      gone.add("state", "released");
      done(json_answer(200, gone.take()));
    });
  });
}

void AdminApi::sweep(const std::string& body, Done done) {
  const auto clock = parse_sweep(body);
  if (!clock) return done(problem_answer(400, clock.error()));
  command::Sweep sweep;
  sweep.clock = *clock;
  sweep_slice(sweep, {}, kSweepSlices, std::move(done));
}

void AdminApi::sweep_slice(command::Sweep sweep, result::Swept so_far, std::size_t slices_left, Done done) {
  submit(sweep, done, [this, sweep, so_far, slices_left, done](const Result& result) {
    const auto* swept = std::get_if<result::Swept>(&result);
    if (swept == nullptr) return done(problem_answer(500, "The store has not swept."));
    result::Swept total = *swept;
    total.expired += so_far.expired;
    total.removed += so_far.removed;
    if (swept->more && slices_left > 1) return sweep_slice(sweep, total, slices_left - 1, done);
    done(json_answer(200, swept_json(total)));
  });
}

}  // namespace stet::admin
