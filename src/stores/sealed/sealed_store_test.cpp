#include "stores/sealed/sealed_store.hpp"

#include <gtest/gtest.h>

#include "stores/commands_for_test.hpp"
#include "stores/memory/memory_store.hpp"
#include "stores/sealed/cipher.hpp"

namespace stet::stores {
namespace {

const EncryptionKey kKey = encryption_key("0123456789abcdef0123456789abcdef");
const EncryptionKey kOther = encryption_key("0123456789abcdef0123456789abcdeF");

// Several sealed stores over one engine.
class Shared final : public Store {
 public:
  explicit Shared(Store& inner) : inner_(inner) {}
  std::vector<Outcome> execute(std::span<const Command> batch) override { return inner_.execute(batch); }
  std::optional<Record> find(const OperationId& id) override { return inner_.find(id); }
  Page list(const Filter& f, std::size_t l, const std::string& c) override { return inner_.list(f, l, c); }

 private:
  Store& inner_;
};

struct SealedStoreTest : testing::Test {
  std::unique_ptr<Store> engine = make_memory_store();

  std::unique_ptr<Store> with(std::vector<EncryptionKey> keys) {
    return seal(std::make_unique<Shared>(*engine), std::move(keys));
  }
  static Answer answer() { return {201, {{"Location", "/secret/1"}}, "the secret body", Kept::whole}; }
  void complete(Store& store, const std::string& key) {
    const auto c = claim_of(key);
    run(store, c);
    ASSERT_NE(as<result::Ok>(run(store, command::Complete{token_of(c), answer(), {}})), nullptr);
  }
  static void expect_replay(const Store::Outcome& outcome) {
    ASSERT_NE(as<result::Replay>(outcome), nullptr);
    EXPECT_EQ(as<result::Replay>(outcome)->answer, answer());
  }
  static void expect_corrupt(const Store::Outcome& outcome) {
    EXPECT_EQ(failure(outcome), StoreFailure::corrupt);
  }
};

TEST_F(SealedStoreTest, leaves_nothing_readable_in_the_engine_but_the_status) {
  complete(*with({kKey}), "k");
  const Answer stored = engine->find(OperationId::of("scope", "k")).value().answer.value();
  EXPECT_EQ(stored.status, 201);
  EXPECT_EQ(stored.body.find("secret"), std::string::npos);
  for (const Header& header : stored.headers) EXPECT_EQ(header.value.find("secret"), std::string::npos);
  expect_replay(run(*with({kKey}), claim_of("k")));
}

TEST_F(SealedStoreTest, calls_an_answer_of_another_key_corrupt) {
  complete(*with({kKey}), "k");
  const auto other = with({kOther});
  expect_corrupt(run(*other, claim_of("k")));
  EXPECT_FALSE(other->peek(claim_of("k")));
  EXPECT_THROW(other->find(OperationId::of("scope", "k")), StoreError);
}

TEST_F(SealedStoreTest, never_replays_a_sealed_answer_as_it_is_stored) {
  complete(*with({kKey}), "k");
  expect_corrupt(run(*with({}), claim_of("k")));
}

TEST_F(SealedStoreTest, opens_old_answers_while_a_key_is_rotated) {
  complete(*with({kKey}), "old");
  const auto both = with({kOther, kKey});
  complete(*both, "new");
  expect_replay(run(*both, claim_of("old")));
  expect_replay(run(*both, claim_of("new")));
  expect_corrupt(run(*with({kKey}), claim_of("new")));
}

TEST_F(SealedStoreTest, replays_what_was_recorded_before_there_was_a_key) {
  complete(*with({}), "k");
  expect_replay(run(*with({kKey}), claim_of("k")));
}

TEST_F(SealedStoreTest, does_not_open_the_answer_of_another_record) {
  complete(*with({kKey}), "a");
  const Answer of_a = engine->find(OperationId::of("scope", "a")).value().answer.value();
  const auto b = claim_of("b");
  run(*engine, b);
  run(*engine, command::Complete{token_of(b), of_a, {}});
  expect_corrupt(run(*with({kKey}), claim_of("b")));
}

TEST(Cipher, notices_every_flipped_byte) {
  const Cipher cipher(kKey);
  const std::string sealed = cipher.seal("the body", "identity");
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string flipped = sealed;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_FALSE(cipher.open(flipped, "identity")) << i;
  }
  EXPECT_FALSE(cipher.open(sealed, "another identity"));
  EXPECT_FALSE(cipher.open(sealed.substr(0, 27), "identity"));
  EXPECT_FALSE(cipher.open("", "identity"));
  EXPECT_EQ(cipher.open(sealed, "identity"), "the body");
}

TEST(Cipher, seals_an_empty_text) {
  const Cipher cipher(kKey);
  EXPECT_EQ(cipher.open(cipher.seal("", ""), ""), "");
}

TEST(EncryptionKey, has_thirty_two_bytes) {
  EXPECT_THROW(encryption_key("too short"), StoreError);
  EXPECT_THROW(encryption_key(""), StoreError);
}

}  // namespace
}  // namespace stet::stores
