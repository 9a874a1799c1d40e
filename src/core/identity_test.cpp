#include "stet/identity.hpp"

#include <gtest/gtest.h>

namespace stet {
namespace {

TEST(OperationId, depends_on_scope_and_key_and_not_on_how_they_are_glued) {
  EXPECT_EQ(OperationId::of("a", "b"), OperationId::of("a", "b"));
  EXPECT_NE(OperationId::of("ab", "c"), OperationId::of("a", "bc"));
  EXPECT_NE(OperationId::of("a", "B"), OperationId::of("a", "b"));
}

TEST(OperationId, reads_back_its_own_text_and_nothing_else) {
  const OperationId id = OperationId::of("scope", "key");
  EXPECT_EQ(OperationId::parse(id.text()), id);
  EXPECT_EQ(OperationId::parse(id.text() + "0"), std::nullopt);
  EXPECT_EQ(OperationId::parse("ABCDEF00ABCDEF00ABCDEF00ABCDEF00"), std::nullopt);
  EXPECT_EQ(OperationId::parse(""), std::nullopt);
}

TEST(Nonce, is_fresh_each_time) {
  EXPECT_NE(Nonce::random(), Nonce::random());
}

TEST(Token, survives_text_whatever_scope_and_key_hold) {
  const Token token{std::string("a.b\0\xff", 5), "k,\"; .", Nonce::random(), 7};
  EXPECT_EQ(Token::parse(token.text()), token);
}

TEST(Token, refuses_text_that_is_not_a_token) {
  const std::string good = Token{"s", "k", Nonce::random(), 1}.text();
  for (const std::string& bad :
       {std::string(), std::string("v1"), good + ".00", good + "0", "v2" + good.substr(2),
        std::string("v1.0") + good.substr(4), std::string("v1.-1") + good.substr(4)}) {
    EXPECT_EQ(Token::parse(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace stet
