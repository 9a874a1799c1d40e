#include "stet/derive.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/digest.hpp"

namespace stet {
namespace {

Fingerprint fingerprint(std::string_view what) {
  return {sha256(what), "bytes"};
}

// In every version: a provider may have seen these.
TEST(Derive, gives_the_same_key_for_the_same_inputs_for_ever) {
  EXPECT_EQ(derive("order-1", "charge"), derive("order-1", "charge"));
  EXPECT_EQ(derive("order-1", "charge"), "1b6e7a1c-c2ef-860d-ad46-50e66b06acdd");
  EXPECT_EQ(derive(OperationId::of("hotel", "order-1"), fingerprint("4900"), "charge"),
            "d79c627b-b1f8-8a8f-99c6-31f12ab774de");
}

// A new intent under a key that was forgotten: the provider that still knows it would answer with the old
// charge.
TEST(Derive, gives_different_keys_for_different_purposes_operations_scopes_and_intents) {
  const std::set<std::string> keys{derive("a", "charge"),
                                   derive("a", "refund"),
                                   derive("b", "charge"),
                                   derive("ac", "harge"),
                                   derive("", "acharge"),
                                   derive(OperationId::of("alice", "order-1"), fingerprint("4900"), "charge"),
                                   derive(OperationId::of("alice", "order-1"), fingerprint("9900"), "charge"),
                                   derive(OperationId::of("alice", "order-1"), fingerprint("4900"), "refund"),
                                   derive(OperationId::of("bob", "order-1"), fingerprint("4900"), "charge")};
  EXPECT_EQ(keys.size(), 9U);
}

TEST(Derive, looks_like_a_uuid_of_version_8) {
  const std::string key = derive("order-1", "charge");
  ASSERT_EQ(key.size(), 36U);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) EXPECT_EQ(key[dash], '-');
  EXPECT_EQ(key[14], '8');
  EXPECT_NE(std::string("89ab").find(key[19]), std::string::npos);
}

}  // namespace
}  // namespace stet
