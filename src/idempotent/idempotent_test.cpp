#include "stet/http/idempotent.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "library/sqlite_for_test.hpp"
#include "stet/sqlite/pool.hpp"

namespace stet::http {
namespace {

using testing::HasSubstr;

std::string line(const Response& response, std::string_view name) {
  for (const Header& header : response.headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

class Idempotent : public testing::Test {
 protected:
  static Request post(std::vector<std::string> keys, std::string body = R"({"amount":4900})") {
    Request request{
        "POST", "/charges?trace=1", {{"Content-Type", "application/json"}, {"X-Account", "alice"}}, body};
    for (std::string& key : keys) request.headers.push_back({"Idempotency-Key", std::move(key)});
    return request;
  }

  // The handler charges and answers with the number of charges, so that a second run could not go unseen.
  Response send(const Request& request) {
    const auto charge = idempotent(
        options_, [this] { return pool_.transaction(); },
        [this](const Request&, sqlite::Transaction& transaction) { return handler_(transaction); });
    return charge(request);
  }
  Response charge(sqlite::Transaction& transaction) {
    EXPECT_EQ(sqlite3_exec(transaction.handle(), "INSERT INTO charges (amount) VALUES (4900)", nullptr,
                           nullptr, nullptr),
              SQLITE_OK);
    const auto id = sqlite3_last_insert_rowid(transaction.handle());
    return {201,
            {{"Content-Type", "application/json"}, {"Set-Cookie", "a=b"}, {"Connection", "close"}},
            "{\"id\":" + std::to_string(id) + "}"};
  }

  stores::sqlite::TestFile file_;
  library::UsersDatabase database_{file_.path()};
  sqlite::Pool pool_{file_.path(), {.durability = sqlite::PoolOptions::Durability::os}};
  Options options_{.scope = scope_of_header("X-Account")};
  std::function<Response(sqlite::Transaction&)> handler_ = [this](sqlite::Transaction& t) {
    return charge(t);
  };
};

TEST_F(Idempotent, answers_a_retry_with_the_first_answer) {
  const Response first = send(post({"k"}));
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(line(first, "Stet-Outcome"), "completed");
  EXPECT_EQ(line(first, "Set-Cookie"), "a=b");
  EXPECT_EQ(line(first, "Stet-Operation"), OperationId::of("alice", "k").text());
  EXPECT_THAT(line(first, "Stet-Replayable-Until"), HasSubstr("GMT"));
  for (int i = 0; i < 2; ++i) {
    const Response again = send(post({"k"}));
    EXPECT_EQ(again.status, 201);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(line(again, "Content-Type"), "application/json");
    EXPECT_EQ(line(again, "Idempotent-Replayed"), "true");
    EXPECT_EQ(line(again, "Stet-Outcome"), "replayed");
    EXPECT_EQ(line(again, "Set-Cookie"), "");
    EXPECT_EQ(line(again, "Connection"), "");
  }
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(Idempotent, takes_the_quoted_and_the_bare_form_for_one_key_and_other_json_spelling_for_one_request) {
  send(post({"k-1"}, R"({"amount":4900,"currency":"EUR"})"));
  EXPECT_EQ(line(send(post({"\"k-1\""}, R"({ "currency" : "EUR", "amount" : 49e2 })")), "Stet-Outcome"),
            "replayed");
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(Idempotent, refuses_what_the_gateway_refuses) {
  send(post({"k"}));
  struct Case {
    Request request;
    int status;
    std::string problem;
  };
  Request nobody = post({"k2"});
  std::erase_if(nobody.headers, [](const Header& h) { return h.name == "X-Account"; });
  Request elsewhere = post({"k"});
  elsewhere.target = "/refunds";
  for (const auto& [request, status, problem] :
       {Case{post({}), 400, "key-missing"}, Case{post({"a", "a"}), 400, "key-invalid"},
        Case{post({"a b"}), 400, "key-invalid"}, Case{post({""}), 400, "key-invalid"},
        Case{nobody, 400, "scope-undefined"}, Case{post({"k"}, R"({"amount":1})"), 422, "key-reused"},
        Case{elsewhere, 422, "key-reused"}}) {
    for (int i = 0; i < 2; ++i) {
      const Response refused = send(request);
      EXPECT_EQ(refused.status, status) << problem;
      EXPECT_EQ(line(refused, "Content-Type"), "application/problem+json");
      EXPECT_THAT(refused.body, HasSubstr("/.well-known/stet/problems/" + problem + "\""));
    }
  }
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(Idempotent, runs_unprotected_without_a_key_only_where_that_was_asked_for) {
  options_.key = Key::optional;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(line(send(post({})), "Stet-Outcome"), "");
  EXPECT_EQ(database_.charges(), 2);
}

TEST_F(Idempotent, rolls_back_what_the_handler_says_that_it_did_not_do) {
  handler_ = [this](sqlite::Transaction& t) {
    charge(t);
    return Response{503, {}, "later"};
  };
  for (int i = 0; i < 2; ++i) {
    const Response later = send(post({"k"}));
    EXPECT_EQ(later.status, 503);
    EXPECT_EQ(line(later, "Stet-Outcome"), "not-executed");
  }
  EXPECT_EQ(database_.charges(), 0);
  handler_ = [this](sqlite::Transaction& t) { return charge(t); };
  EXPECT_EQ(line(send(post({"k"})), "Stet-Outcome"), "completed");
}

TEST_F(Idempotent, rolls_back_and_lets_pass_what_the_handler_throws) {
  handler_ = [this](sqlite::Transaction& t) -> Response {
    charge(t);
    throw std::runtime_error("oops");
  };
  for (int i = 0; i < 2; ++i) EXPECT_THROW(send(post({"k"})), std::runtime_error);
  EXPECT_EQ(database_.charges(), 0);
  EXPECT_EQ(database_.operations(), 0);
}

TEST_F(Idempotent, keeps_refusals_and_server_errors_of_the_handler) {
  for (const int status : {400, 402, 404, 409, 422, 500}) {
    handler_ = [status](sqlite::Transaction&) { return Response{status, {}, "no"}; };
    const std::string key = "k" + std::to_string(status);
    send(post({key}));
    handler_ = [this](sqlite::Transaction& t) { return charge(t); };
    EXPECT_EQ(send(post({key})).status, status);
  }
  EXPECT_EQ(database_.charges(), 0);
}

TEST_F(Idempotent, says_503_when_the_database_is_locked_and_runs_nothing) {
  sqlite::Pool impatient(file_.path(), {.busy_timeout = std::chrono::milliseconds(20)});
  bool ran = false;
  const auto handler = idempotent(
      options_, [&] { return impatient.transaction(); },
      [&](const Request&, sqlite::Transaction&) {
        ran = true;
        return Response{};
      });
  database_.run("BEGIN IMMEDIATE");
  for (int i = 0; i < 2; ++i) {
    const Response busy = handler(post({"k"}));
    EXPECT_EQ(busy.status, 503);
    EXPECT_EQ(line(busy, "Retry-After"), "1");
    EXPECT_THAT(busy.body, HasSubstr("\"retryable\":true"));
  }
  database_.run("ROLLBACK");
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace stet::http
