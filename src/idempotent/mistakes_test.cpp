// What a handler does wrong must not reach its caller as a success.

#include <gmock/gmock.h>

#include "library/sqlite_for_test.hpp"
#include "stet/http/idempotent.hpp"
#include "stet/sqlite/pool.hpp"

namespace stet::http {
namespace {

class Mistakes : public testing::Test {
 protected:
  static Request post(const std::string& account, const std::string& key) {
    Request request{"POST", "/charges", {{"X-Account", account}}, "4900"};
    if (!key.empty()) request.headers.push_back({"Idempotency-Key", key});
    return request;
  }
  Response send(const Request& request, const std::string& sql, int status = 201) {
    const auto charge = idempotent(
        options_, [this] { return pool_.transaction(); },
        [&](const Request&, sqlite::Transaction& transaction) {
          EXPECT_EQ(sqlite3_exec(transaction.handle(), sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
          return Response{status, {}, "done"};
        });
    return charge(request);
  }

  stores::sqlite::TestFile file_;
  library::UsersDatabase database_{file_.path()};
  sqlite::Pool pool_{file_.path(), {.durability = sqlite::PoolOptions::Durability::os}};
  Options options_{.scope = scope_of_header("X-Account")};
};

constexpr const char* kCharge = "INSERT INTO charges (amount) VALUES (1)";

TEST_F(Mistakes, a_handler_that_has_rolled_its_claim_back_does_not_answer_for_it) {
  for (int i = 0; i < 2; ++i) {
    const Response response = send(post("alice", "k"), std::string("ROLLBACK; BEGIN IMMEDIATE; ") + kCharge);
    EXPECT_GE(response.status, 500) << "its rows are rolled back, and a retry runs again";
    EXPECT_EQ(database_.charges(), 0);
  }
  EXPECT_EQ(send(post("alice", "k"), kCharge).status, 201);
}

TEST_F(Mistakes, reach_the_log_of_the_service_with_their_reason_and_its_caller_without) {
  std::vector<std::string> said;
  options_.on_store_error = [&](const StoreError& error) { said.emplace_back(error.what()); };
  for (std::size_t i = 1; i <= 2; ++i) {
    const Response response = send(post("alice", "k"), "ROLLBACK");
    EXPECT_EQ(response.status, 503);
    EXPECT_THAT(response.body, testing::Not(testing::HasSubstr("transaction")));
    ASSERT_EQ(said.size(), i);
    EXPECT_THAT(said.back(), testing::HasSubstr("no transaction is open"));
  }
  EXPECT_EQ(send(post("alice", "k"), kCharge).status, 201);
  EXPECT_EQ(said.size(), 2U);
}

TEST_F(Mistakes, an_empty_scope_is_none) {
  options_.scope = [](const Request& request) {
    return std::string(header(request, "X-Account").value_or(""));
  };
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(send(post("", "k"), kCharge).status, 400) << "callers without a name share no answers";
  EXPECT_EQ(database_.charges(), 0);
}

TEST_F(Mistakes, a_scope_that_not_every_database_can_index_is_none) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(send(post(std::string(1'000, 'a'), "k"), kCharge).status, 201);
    EXPECT_EQ(send(post(std::string(1'001, 'a'), "k"), kCharge).status, 400);
  }
  EXPECT_EQ(database_.charges(), 1);
}

TEST_F(Mistakes, what_says_that_it_did_nothing_is_rolled_back_without_a_key_too) {
  options_.key = Key::optional;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(send(post("alice", ""), kCharge, 503).status, 503);
  EXPECT_EQ(database_.charges(), 0);
  EXPECT_EQ(send(post("alice", ""), kCharge, 409).status, 409);
  EXPECT_EQ(database_.charges(), 1) << "other refusals are committed, as with a key";
}

}  // namespace
}  // namespace stet::http
