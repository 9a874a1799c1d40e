#include "admin/admin_api.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <future>
#include <set>

#include "stores/memory/memory_store.hpp"

namespace stet::admin {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

// A store that can be made to fail, and whose clocks stand still until they are moved.
struct AdminApiTest : testing::Test {
  struct Clock {
    WallTime wall = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
    stores::MonoTime mono = stores::MonoTime() + 1h;
  };
  class Breakable final : public Store {
   public:
    Breakable(std::unique_ptr<Store> store, std::shared_ptr<std::atomic<bool>> broken)
        : store_(std::move(store)), broken_(std::move(broken)) {}
    std::vector<Outcome> execute(std::span<const Command> batch) override { return whole()->execute(batch); }
    std::optional<Record> find(const OperationId& id) override { return whole()->find(id); }
    Page list(const Filter& filter, std::size_t limit, const std::string& cursor) override {
      return whole()->list(filter, limit, cursor);
    }

   private:
    Store* whole() {
      if (*broken_) throw StoreError(StoreFailure::unavailable, "gone fishing");
      return store_.get();
    }
    std::unique_ptr<Store> store_;
    std::shared_ptr<std::atomic<bool>> broken_;
  };

  AdminApiTest() { config->defaults.name = "defaults"; }

  std::shared_ptr<config::Config> config = std::make_shared<config::Config>();
  std::shared_ptr<Clock> clock = std::make_shared<Clock>();
  std::shared_ptr<std::atomic<bool>> broken = std::make_shared<std::atomic<bool>>(false);
  Metrics metrics;
  Log log{config::LogFormat::off, config::LogKeys::hash};
  stores::Committer committer{std::make_unique<Breakable>(
      stores::make_memory_store({[c = clock] { return c->wall; }, [c = clock] { return c->mono; }}), broken)};
  AdminApi api{config, {committer, metrics, log}, [](std::function<void()> work) { work(); }};

  Answer ask(const std::string& method, const std::string& target, const std::string& body = {}) {
    AdminRequest request;
    request.head.method = method;
    request.head.target = target;
    request.head.fields.add("Host", "127.0.0.1:9090");
    if (method == "POST") request.head.fields.add("Content-Type", "application/json");
    request.body = body;
    std::promise<Answer> promise;
    api.answer(request, [&](Answer answer) { promise.set_value(std::move(answer)); });
    return promise.get_future().get();
  }
  static json::value parse(const Answer& answer) { return json::parse(answer.body); }

  Result run(Command command) {
    std::promise<Store::Outcome> promise;
    committer.submit(std::move(command),
                     [&](Store::Outcome outcome) { promise.set_value(std::move(outcome)); });
    return std::get<Result>(promise.get_future().get());
  }
  Token claim(const std::string& key) {
    command::Claim claim;
    claim.scope = "alice";
    claim.key = key;
    claim.nonce = Nonce::random();
    claim.method = "POST";
    claim.path = "/charges";
    claim.lease = 30s;
    EXPECT_TRUE(std::holds_alternative<result::Claimed>(run(claim)));
    return {claim.scope, claim.key, claim.nonce, 1};
  }
  Token unknown(const std::string& key) {
    Token token = claim(key);
    EXPECT_TRUE(std::holds_alternative<result::Ok>(run(command::SettleUnknown{token})));
    return token;
  }
  void pass(milliseconds time) {
    clock->wall += time;
    clock->mono += time;
  }
  // plan_settle compares with the real clock: an old record is one that was made long ago.
  void long_ago() { clock->wall -= 24h; }
  static std::string settle_path(const Token& token) {
    return "/api/operations/" + token.id().text() + "/settle";
  }
};

TEST_F(AdminApiTest, is_alive_and_ready) {
  EXPECT_EQ(ask("GET", "/livez").status, 200);
  const Answer ready = ask("GET", "/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_EQ(ready.body, "{\"ready\":true}\n");
}

TEST_F(AdminApiTest, is_not_ready_while_it_drains) {
  metrics.process.draining.set(1);
  const Answer ready = ask("GET", "/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(parse(ready).at("reason"), "draining");
  EXPECT_EQ(ask("GET", "/livez").status, 200);
}

TEST_F(AdminApiTest, is_not_ready_while_the_store_does_not_answer) {
  *broken = true;
  EXPECT_EQ(ask("GET", "/readyz").status, 503);
  EXPECT_EQ(ask("GET", "/livez").status, 200);
  *broken = false;
  EXPECT_EQ(ask("GET", "/readyz").status, 200);
}

TEST_F(AdminApiTest, shows_metrics_as_prometheus_reads_them) {
  const Answer answer = ask("GET", "/metrics");
  EXPECT_EQ(answer.headers.at(0).value, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_NE(answer.body.find("\nstet_store_reachable 1\n"), std::string::npos);
}

TEST_F(AdminApiTest, counts_the_operations_that_wait_for_an_operator) {
  unknown("a");
  const Token b = unknown("b");
  EXPECT_NE(ask("GET", "/metrics").body.find("\nstet_operations_unknown 2\n"), std::string::npos);
  run(command::Complete{b, Answer{201, {}, ""}, {}});
  EXPECT_NE(ask("GET", "/metrics").body.find("\nstet_operations_unknown 1\n"), std::string::npos);
  *broken = true;  // then the count is the last one known, and the metrics are there
  EXPECT_NE(ask("GET", "/metrics").body.find("\nstet_operations_unknown 1\n"), std::string::npos);
}

TEST_F(AdminApiTest, lists_operations_page_by_page) {
  for (const char* key : {"a", "b", "c"}) claim(key);
  std::string cursor;
  std::set<std::string> seen;
  for (int pages = 0; pages < 5; ++pages) {
    const auto page =
        parse(ask("GET", "/api/operations?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor)));
    for (const auto& each : page.at("operations").as_array())
      seen.insert(std::string(each.at("key").as_string()));
    if (page.at("next").is_null()) break;
    cursor = std::string(page.at("next").as_string());
  }
  EXPECT_EQ(seen, (std::set<std::string>{"a", "b", "c"}));
}

TEST_F(AdminApiTest, takes_no_cursor_of_somebody_elses) {
  claim("a");
  const Answer answer = ask("GET", "/api/operations?cursor=garbage");
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("`cursor`"), std::string::npos) << answer.body;
}

TEST_F(AdminApiTest, lists_what_a_filter_asks_for) {
  claim("running");
  unknown("lost");
  const auto page = parse(ask("GET", "/api/operations?state=unknown"));
  ASSERT_EQ(page.at("operations").as_array().size(), 1U);
  EXPECT_EQ(page.at("operations").at(0).at("key"), "lost");
  EXPECT_EQ(page.at("operations").at(0).at("scope"), json::value(scope_hash("alice")));
  EXPECT_EQ(parse(ask("GET", "/api/operations?key=running")).at("operations").as_array().size(), 1U);
}

TEST_F(AdminApiTest, refuses_a_filter_that_it_does_not_know) {
  EXPECT_EQ(ask("GET", "/api/operations?stat=unknown").status, 400);
  EXPECT_EQ(ask("GET", "/api/operations?state=lost").status, 400);
  EXPECT_EQ(ask("GET", "/api/operations?limit=1001").status, 400);
}

TEST_F(AdminApiTest, shows_one_operation_whole) {
  const Token token = claim("a");
  run(command::Complete{token, Answer{201, {{"X-A", "1"}}, "made"}, {}});
  const auto shown = parse(ask("GET", "/api/operations/" + token.id().text()));
  EXPECT_EQ(shown.at("state"), "completed");
  EXPECT_EQ(shown.at("status"), 201);
  EXPECT_EQ(shown.at("body_base64"), "bWFkZQ==");
  EXPECT_EQ(ask("GET", "/api/operations/" + std::string(32, '0')).status, 404);
  EXPECT_EQ(ask("GET", "/api/operations/nothing").status, 404);
}

TEST_F(AdminApiTest, settles_an_unknown_operation_with_its_answer) {
  const Token token = unknown("lost");
  const Answer answer = ask("POST", settle_path(token), R"({"status":201,"body":"{\"id\":7}"})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(parse(answer).at("state"), "completed");
  const Result replay =
      run(command::Claim{"alice", "lost", Nonce::random(), {}, "POST", "/charges", {}, 30s});
  ASSERT_TRUE(std::holds_alternative<result::Replay>(replay));
  EXPECT_EQ(std::get<result::Replay>(replay).answer.body, "{\"id\":7}");
  // The late owner is fenced.
  EXPECT_TRUE(std::holds_alternative<result::Fenced>(run(command::Complete{token, Answer{500, {}, ""}, {}})));
  // And nobody settles twice.
  const Answer again = ask("POST", settle_path(token), R"({"status":202})");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(parse(again).at("reason"), "settled-already");
}

TEST_F(AdminApiTest, releases_an_old_unknown_operation) {
  long_ago();
  const Token token = unknown("lost");
  const Answer answer = ask("POST", settle_path(token), R"({"release":true})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(parse(answer).at("state"), "released");
  EXPECT_EQ(ask("GET", "/api/operations/" + token.id().text()).status, 404);
}

// The attempt may still be running at the upstream: a release now could mean two effects.
TEST_F(AdminApiTest, releases_a_fresh_operation_only_by_force) {
  const Token token = unknown("lost");
  const Answer refused = ask("POST", settle_path(token), R"({"release":true})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(parse(refused).at("reason"), "too-fresh");
  EXPECT_EQ(parse(ask("GET", "/api/operations/" + token.id().text())).at("state"), "unknown");
  EXPECT_EQ(ask("POST", settle_path(token), R"({"release":true,"force":true})").status, 200);
}

TEST_F(AdminApiTest, settles_a_pending_operation_only_when_its_lease_is_over) {
  const Token token = claim("running");
  const Answer refused = ask("POST", settle_path(token), R"({"status":200})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(parse(refused).at("reason"), "still-owned");
  EXPECT_TRUE(std::holds_alternative<result::Ok>(run(command::GiveBack{token})));
  EXPECT_EQ(ask("POST", settle_path(token), R"({"status":200})").status, 200);
}

TEST_F(AdminApiTest, refuses_a_settlement_that_it_cannot_read) {
  const Token token = unknown("lost");
  for (const char* body : {"", "{", "[]", "{}", R"({"release":true,"status":200})", R"({"status":"x"})"}) {
    const Answer answer = ask("POST", settle_path(token), body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(answer.headers.at(0).value, "application/problem+json");
  }
  EXPECT_EQ(ask("POST", "/api/operations/" + std::string(32, 'a') + "/settle", R"({"status":200})").status,
            404);
}

TEST_F(AdminApiTest, sweeps_everything_that_is_due) {
  for (int i = 0; i < 5; ++i) {
    run(command::Complete{claim("k" + std::to_string(i)), Answer{200, {}, ""}, 1s});
  }
  EXPECT_EQ(parse(ask("POST", "/api/sweep")).at("expired"), 0);
  pass(2s);
  const auto swept = parse(ask("POST", "/api/sweep", "{}"));
  EXPECT_EQ(swept.at("expired"), 5);
  EXPECT_EQ(swept.at("clock"), "sane");
}

TEST_F(AdminApiTest, sweeps_after_a_clock_jump_when_an_operator_says_that_the_clock_is_right) {
  run(command::Complete{claim("k"), Answer{200, {}, ""}, 1s});
  ask("POST", "/api/sweep");
  clock->wall += 1h;
  const auto halted = parse(ask("POST", "/api/sweep", "{}"));
  EXPECT_EQ(halted.at("clock"), "jumped");
  EXPECT_EQ(halted.at("expired"), 0);
  EXPECT_EQ(parse(ask("POST", "/api/sweep", R"({"trust_clock":true})")).at("expired"), 1);
  EXPECT_EQ(ask("POST", "/api/sweep", R"({"trust":true})").status, 400);
  EXPECT_EQ(ask("POST", "/api/sweep", "nonsense").status, 400);
}

TEST_F(AdminApiTest, says_that_the_store_is_gone) {
  const Token token = unknown("lost");
  *broken = true;
  for (const Answer& answer :
       {ask("GET", "/api/operations"), ask("GET", "/api/operations/" + token.id().text()),
        ask("POST", settle_path(token), R"({"status":200})"), ask("POST", "/api/sweep")}) {
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(parse(answer).at("reason"), "store-unavailable");
  }
}

TEST_F(AdminApiTest, knows_its_paths_and_methods) {
  EXPECT_EQ(ask("GET", "/").status, 404);
  EXPECT_EQ(ask("GET", "/api/operations/").status, 404);
  EXPECT_EQ(ask("DELETE", "/api/operations").status, 405);
  EXPECT_EQ(ask("GET", "/api/sweep").status, 405);
  EXPECT_EQ(ask("POST", "/metrics", "{}").status, 405);
  EXPECT_EQ(ask("OPTIONS", "/api/operations").status, 405);
}

TEST_F(AdminApiTest, takes_a_settled_answer_as_large_as_a_route_keeps) {
  config->routes.emplace_back();
  config->routes.back().max_response_body = 30 << 20;
  EXPECT_GT(api.body_limit(), std::uint64_t{40 << 20});
}

}  // namespace
}  // namespace stet::admin
