// What is looked at before a PostgreSQL is trusted, and what is said when it will not do.

#include <thread>

#include "stores/commands_for_test.hpp"
#include "stores/postgres/database_for_test.hpp"

namespace stet::stores::postgres {
namespace {

std::string refusal(const std::string& url, Options options = {}) {
  try {
    open(url, options);
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreFailure::incompatible) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "it was opened";
  return "";
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

// A role of a test's own; roles belong to the whole server.
class TestRole {
 public:
  explicit TestRole(const TestDatabase& database) : database_(database), name_("role_of_" + database.name()) {
    database_.sql("CREATE ROLE " + name_ + " LOGIN PASSWORD 'correct horse'");
  }
  ~TestRole() { database_.sql("DROP OWNED BY " + name_ + "; DROP ROLE " + name_); }
  TestRole(const TestRole&) = delete;
  TestRole& operator=(const TestRole&) = delete;
  const std::string& name() const { return name_; }
  std::string url() const { return database_.url() + " user=" + name_; }

 private:
  const TestDatabase& database_;
  std::string name_;
};

TEST(OpeningPostgres, creates_the_schema_once_and_finds_it_again) {
  const TestDatabase database;
  const auto first = open_one(database);
  const auto c = claim_of("k");
  EXPECT_NE(as<result::Claimed>(run(*first, c)), nullptr);
  const auto second = open_one(database);
  EXPECT_NE(as<result::InProgress>(run(*second, claim_of("k"))), nullptr);
  EXPECT_NE(as<result::Claimed>(run(*second, c)), nullptr);
}

TEST(OpeningPostgres, lets_two_gateways_start_on_an_empty_database_at_once) {
  const TestDatabase database;
  std::vector<std::thread> gateways;
  std::atomic<int> opened{0};
  for (int i = 0; i < 4; ++i) {
    gateways.emplace_back([&] {
      try {
        open_one(database);
        ++opened;
      } catch (const StoreError& error) {
        ADD_FAILURE() << error.what();
      }
    });
  }
  for (auto& gateway : gateways) gateway.join();
  EXPECT_EQ(opened, 4);
}

TEST(OpeningPostgres, makes_no_schema_for_somebody_who_only_looks) {
  const TestDatabase database;
  Options looking;
  looking.missing = OpenOptions::Missing::refuse;
  EXPECT_TRUE(says(refusal(database.url(), looking), "there is no schema stet"));
  EXPECT_EQ(database.sql("SELECT to_regnamespace('stet') IS NULL"), "t");
}

TEST(OpeningPostgres, names_the_command_that_brings_the_schema_up_to_date) {
  const TestDatabase database;
  open_one(database);
  database.sql("UPDATE stet.meta SET value = '0' WHERE name = 'schema_version'");
  EXPECT_TRUE(says(refusal(database.url()), "stet schema apply"));
  database.sql("UPDATE stet.meta SET value = '99' WHERE name = 'schema_version'");
  EXPECT_TRUE(says(refusal(database.url()), "newer stet"));
  EXPECT_EQ(database.sql("SELECT value FROM stet.meta WHERE name = 'schema_version'"), "99");
}

TEST(OpeningPostgres, leaves_somebody_elses_schema_alone) {
  const TestDatabase database;
  database.sql("CREATE SCHEMA stet; CREATE TABLE stet.mine (a int)");
  EXPECT_TRUE(says(refusal(database.url()), "not Stet's"));
}

TEST(OpeningPostgres, refuses_commits_that_are_acknowledged_before_they_are_durable) {
  const TestDatabase database;
  database.sql("ALTER DATABASE " + database.name() + " SET synchronous_commit = off");
  EXPECT_TRUE(says(refusal(database.url()), "synchronous_commit"));
  Options on_purpose;
  on_purpose.durability = Durability::os;
  EXPECT_NE(open_one(database, on_purpose), nullptr);
}

TEST(OpeningPostgres, refuses_an_encoding_that_does_not_keep_text) {
  const std::string name = "stet_latin_" + std::to_string(::getpid());
  const TestDatabase database;
  database.sql("CREATE DATABASE " + name +
               " ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
  EXPECT_TRUE(says(refusal(test_server() + " dbname=" + name), "LATIN1"));
  database.sql("DROP DATABASE " + name);
}

TEST(OpeningPostgres, says_which_rights_are_missing) {
  const TestDatabase database;
  const TestRole role(database);
  EXPECT_TRUE(says(refusal(role.url()), "stet schema apply")) << "it may not create a schema";
  open_one(database);
  EXPECT_TRUE(says(refusal(role.url()), "GRANT")) << "it may not use the schema";
  database.sql("GRANT USAGE ON SCHEMA stet TO " + role.name() + "; GRANT SELECT ON stet.meta TO " +
               role.name());
  EXPECT_TRUE(says(refusal(role.url()), "may not execute stet."));
  database.sql("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA stet TO " + role.name());
  auto store = std::move(open(role.url(), {}).front());
  EXPECT_NE(as<result::Claimed>(run(*store, claim_of("k"))), nullptr);
}

TEST(OpeningPostgres, never_repeats_a_password) {
  const TestDatabase database;
  for (const std::string& url : {std::string("postgresql://me:correct%20horse@127.0.0.1:1/db"),
                                 std::string("postgresql://me:correct horse@host:port:5/db"),
                                 std::string("postgresql://me:correct%zzhorse@host/db"),
                                 std::string("postgres://me:horse@[::1/db?password=horse")}) {
    try {
      open(url, {});
      ADD_FAILURE() << "opened";
    } catch (const StoreError& error) {
      EXPECT_FALSE(says(error.what(), "horse")) << error.what();
    }
  }
}

TEST(OpeningPostgres, finds_the_server_among_several_hosts) {
  const TestDatabase database;
  std::string several = database.url();
  const std::size_t at = several.find("host=") + 5;
  several.insert(at, "/nowhere,");
  const auto store = std::move(open(several, {}).front());
  EXPECT_NE(as<result::Claimed>(run(*store, claim_of("k"))), nullptr);
}

}  // namespace
}  // namespace stet::stores::postgres
