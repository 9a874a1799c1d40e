#include "stores/open.hpp"

#include "stores/commands_for_test.hpp"
#include "stores/sqlite/file_for_test.hpp"

namespace stet::stores {
namespace {

OpenOptions quick() {
  OpenOptions options;
  options.durability = Durability::os;
  options.free_space_floor = 0;
  options.ballast = 0;
  return options;
}

std::string refusal(const std::string& url) {
  try {
    open_store(url, quick());
  } catch (const StoreError& error) {
    EXPECT_EQ(error.kind(), StoreFailure::incompatible);
    return error.what();
  }
  ADD_FAILURE() << url << " was opened";
  return "";
}

TEST(OpenStore, opens_a_file_by_its_url) {
  const sqlite::TestFile file;
  const auto store = open_store("sqlite:" + file.path(), quick());
  EXPECT_NE(as<result::Claimed>(run(*store, claim_of("k"))), nullptr);
}

TEST(OpenStore, says_which_engines_are_not_built) {
  for (const char* url : {"redis://user:secret@host", "rediss://host", "redis-cluster://a,b"}) {
    const std::string why = refusal(url);
    EXPECT_NE(why.find("not built yet"), std::string::npos) << why;
    EXPECT_EQ(why.find("secret"), std::string::npos);
  }
}

TEST(OpenStore, refuses_what_is_no_store_without_repeating_it) {
  for (const char* url : {"", "stet.db", "postgresql:user:secret@host", "mysql://user:secret@host",
                          "SQLITE:stet.db", "sqlite:"}) {
    EXPECT_EQ(refusal(url).find("secret"), std::string::npos);
  }
}

TEST(OpenStore, refuses_a_key_of_the_wrong_length) {
  const sqlite::TestFile file;
  OpenOptions options = quick();
  options.encryption_key = "short";
  EXPECT_THROW(open_store("sqlite:" + file.path(), options), StoreError);
}

TEST(OpenStore, seals_answers_when_there_is_a_key_and_says_corrupt_without_it) {
  const sqlite::TestFile file;
  OpenOptions with_key = quick();
  with_key.encryption_key = std::string(32, 'k');
  const auto c = claim_of("k");
  {
    const auto store = open_store("sqlite:" + file.path(), with_key);
    run(*store, c);
    run(*store, completion_of(c));
    EXPECT_EQ(store->peek(claim_of("k")),
              Result(result::Replay{answer_of("k"), store->find(OperationId::of("scope", "k"))->expires_at}));
  }
  EXPECT_EQ(failure(run(*open_store("sqlite:" + file.path(), quick()), claim_of("k"))),
            StoreFailure::corrupt);
}

TEST(SqlitePath, is_what_follows_the_scheme) {
  EXPECT_EQ(sqlite_path("sqlite:/var/lib/stet.db"), "/var/lib/stet.db");
  EXPECT_EQ(sqlite_path("postgresql://host"), std::nullopt);
}

}  // namespace
}  // namespace stet::stores
