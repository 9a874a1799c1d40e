// Which files a store opens, and what it says about the others.

#include <sys/stat.h>

#include <fstream>

#include "stores/commands_for_test.hpp"
#include "stores/sqlite/database.hpp"
#include "stores/sqlite/file_for_test.hpp"
#include "stores/sqlite/schema.hpp"

namespace stet::stores::sqlite {
namespace {

struct OpeningTest : testing::Test {
  TestFile file;

  std::string refusal(const std::string& path, StoreFailure kind = StoreFailure::incompatible) {
    try {
      sqlite::open(path, quick_options());
    } catch (const StoreError& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    ADD_FAILURE() << path << " was opened";
    return "";
  }
  static bool says(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }
};

TEST_F(OpeningTest, makes_a_file_that_only_its_owner_can_read) {
  sqlite::open(file.path(), quick_options());
  struct stat status{};
  ASSERT_EQ(::stat(file.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(OpeningTest, refuses_a_second_gateway_and_names_the_first) {
  const auto first = sqlite::open(file.path(), quick_options());
  const std::string why = refusal(file.path());
  EXPECT_TRUE(says(why, "in use by process")) << why;
  EXPECT_TRUE(says(why, std::to_string(::getpid()).c_str())) << why;
}

TEST_F(OpeningTest, opens_again_once_the_first_is_gone) {
  sqlite::open(file.path(), quick_options());
  EXPECT_NE(sqlite::open(file.path(), quick_options()), nullptr);
}

TEST_F(OpeningTest, refuses_a_file_that_another_program_holds) {
  sqlite::open(file.path(), quick_options());
  Database other(file.path(), "");
  other.run("PRAGMA locking_mode = EXCLUSIVE");
  other.run("BEGIN IMMEDIATE");
  EXPECT_TRUE(says(refusal(file.path()), "another program"));
}

TEST_F(OpeningTest, keeps_other_programs_out_while_it_runs) {
  const auto store = sqlite::open(file.path(), quick_options());
  run(*store, claim_of("k"));
  Database other(file.path(), "");
  EXPECT_THROW(other.integer("SELECT count(*) FROM claims"), SqlError);
}

TEST_F(OpeningTest, refuses_a_directory_that_is_not_there) {
  EXPECT_TRUE(says(refusal(file.directory() + "/no/such/stet.db"), "cannot be written"));
  EXPECT_TRUE(says(refusal(file.directory()), "cannot be written"));
  EXPECT_TRUE(says(refusal(""), "path"));
}

TEST_F(OpeningTest, refuses_a_file_that_is_no_database) {
  std::ofstream(file.path()) << std::string(8192, 'x');
  EXPECT_TRUE(says(refusal(file.path()), "not a store"));
}

TEST_F(OpeningTest, refuses_a_database_of_somebody_else_and_leaves_it_as_it_was) {
  {
    Database other(file.path(), "");
    other.run("CREATE TABLE users (name TEXT)");
  }
  EXPECT_TRUE(says(refusal(file.path()), "not one of Stet's"));
  Database other(file.path(), "");
  EXPECT_EQ(other.integer("SELECT count(*) FROM sqlite_master"), 1);
}

TEST_F(OpeningTest, refuses_a_file_of_a_newer_version) {
  sqlite::open(file.path(), quick_options());
  {
    Database database(file.path(), "");
    database.run("PRAGMA user_version = 2");
  }
  EXPECT_TRUE(says(refusal(file.path()), "newer"));
}

TEST_F(OpeningTest, writes_the_version_and_the_application_into_the_file) {
  sqlite::open(file.path(), quick_options());
  Database database(file.path(), "");
  EXPECT_EQ(database.integer("PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(database.integer("PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(database.text("PRAGMA integrity_check"), "ok");
}

}  // namespace
}  // namespace stet::stores::sqlite
