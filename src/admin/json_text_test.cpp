#include "admin/json_text.hpp"

#include <gtest/gtest.h>

namespace stet::admin {
namespace {

TEST(JsonText, builds_flat_objects) {
  JsonObject object;
  object.add("a", "x");
  object.add("b", -7);
  object.add_millis("c", 12'045);
  object.add_raw("d", "[1]");
  EXPECT_EQ(object.take(), R"({"a":"x","b":-7,"c":12.045,"d":[1]})");
  EXPECT_EQ(JsonObject().take(), "{}");
}

TEST(JsonText, is_valid_whatever_bytes_come) {
  JsonObject object;
  object.add("a", "\"\n\x01\xFF");
  EXPECT_EQ(object.take(), "{\"a\":\"\\\"\\n\\u0001\\ufffd\"}");
}

}  // namespace
}  // namespace stet::admin
