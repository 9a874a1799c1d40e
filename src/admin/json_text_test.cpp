#include "admin/json_text.hpp"

#include <gtest/gtest.h>

namespace stet::admin {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonText, escapes_quotes_backslashes_and_control_characters) {
  EXPECT_EQ(quoted("a\"b\\c\nd\r\t\x01\x7F"), R"("a\"b\\c\nd\r\t\u0001\u007f")");
  EXPECT_EQ(quoted(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(JsonText, keeps_utf8_and_replaces_what_is_not) {
  EXPECT_EQ(quoted("é€😀"), "\"é€😀\"");
  EXPECT_EQ(quoted("\xFF"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(quoted("\xC3"), "\"\xEF\xBF\xBD\"");                          // cut short
  EXPECT_EQ(quoted("\xC0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");          // overlong
  EXPECT_EQ(quoted("\xED\xA0\x80").size(), 2U + 9U);                      // a surrogate: three bytes replaced
  EXPECT_EQ(quoted("\xF4\x90\x80\x80").size(), 2U + 12U);                 // beyond U+10FFFF
}

TEST(JsonText, builds_flat_objects) {
  JsonObject object;
  object.add("a", "x");
  object.add("b", -7);
  object.add_millis("c", 12'045);
  object.add_raw("d", "[1]");
  EXPECT_EQ(object.take(), R"({"a":"x","b":-7,"c":12.045,"d":[1]})");
  EXPECT_EQ(JsonObject().take(), "{}");
}

}  // namespace
}  // namespace stet::admin
