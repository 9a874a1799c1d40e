#pragma once
// For tests: a database of its own with Stet's schema and a bank's tables, and a pool to it.

#include <gtest/gtest.h>

#include <string>

#include "library/failure_sweep_for_test.hpp"
#include "stet/postgres/pool.hpp"
#include "stores/postgres/database_for_test.hpp"

namespace stet::library {

using stores::postgres::TestDatabase;

inline void exec(PGconn* connection, const std::string& sql) {
  PGresult* const result = PQexec(connection, sql.c_str());
  const ExecStatusType status = PQresultStatus(result);
  const std::string why = PQresultErrorMessage(result);
  PQclear(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    throw StoreError(StoreFailure::not_written, why);
}

inline int number(PGconn* connection, const std::string& sql) {
  PGresult* const result = PQexec(connection, sql.c_str());
  EXPECT_EQ(PQresultStatus(result), PGRES_TUPLES_OK) << PQresultErrorMessage(result);
  const int value = PQntuples(result) == 1 ? std::atoi(PQgetvalue(result, 0, 0)) : -1;
  PQclear(result);
  return value;
}

class OnPostgres : public testing::Test {
 protected:
  static RunResult transfer(postgres::Transaction& transaction, const std::string& key,
                            const std::string& what = "100") {
    const Intent intent{"alice", key, fingerprint_of(what), "POST", "/transfers"};
    RunResult result = run_once(transaction.session(), intent, {}, [&](const Token&) {
      exec(transaction.handle(), "INSERT INTO movements VALUES ('" + key + "', 100)");
      transaction.session().emit(
          {.topic = "moved", .payload = key, .order_key = "alice", .headers = {{"a", "b\"c"}}});
      return Answer{201, {{"Location", "/m/1"}}, "moved", Kept::whole};
    });
    if (result.then() == Then::commit) transaction.commit();
    return result;
  }
  RunResult transfer(const std::string& key, const std::string& what = "100") {
    postgres::Transaction transaction = pool_.transaction();
    return transfer(transaction, key, what);
  }
  int count(const std::string& table) { return std::stoi(database_.sql("SELECT count(*) FROM " + table)); }

  TestDatabase database_;
  postgres::Pool pool_{database_.url()};
  void SetUp() override { database_.sql(failures::kBankTables); }
};

}  // namespace stet::library
