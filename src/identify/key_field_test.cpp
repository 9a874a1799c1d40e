#include "identify/key_field.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stet::identify {
namespace {

using testing::HasSubstr;

std::string good(std::string_view line) {
  const auto key = parse_key_field(line);
  return key ? *key : "(refused: " + key.error() + ")";
}
std::string fault(std::string_view line) {
  const auto key = parse_key_field(line);
  return key ? "(accepted: " + *key + ")" : key.error();
}

TEST(KeyField, takes_the_quoted_and_the_bare_form_as_one_key) {
  EXPECT_EQ(good("8e03978e-40d5-43dd-bc93-6894a57f9324"), "8e03978e-40d5-43dd-bc93-6894a57f9324");
  EXPECT_EQ(good("\"8e03978e-40d5-43dd-bc93-6894a57f9324\""), "8e03978e-40d5-43dd-bc93-6894a57f9324");
}

TEST(KeyField, leaves_surrounding_whitespace_out_and_inner_spaces_in) {
  EXPECT_EQ(good(" \t abc \t"), "abc");
  EXPECT_EQ(good(" \"abc\" "), "abc");
  EXPECT_EQ(good("\" a b \""), " a b ");
}

TEST(KeyField, case_matters) {
  EXPECT_NE(good("abc"), good("ABC"));
}

TEST(KeyField, undoes_the_two_escapes_of_a_structured_string) {
  EXPECT_EQ(good(R"("a\"b\\c")"), R"(a"b\c)");
}

TEST(KeyField, ignores_parameters) {
  for (const char* parameters : {";a", ";a=1", "; a=-1.5", ";a=\"x;y\\\"z\"", ";a=:aGk=:", ";a=?0",
                                 ";a=*tok/en:x;b", ";*k-1_.*=to", ";a=\"\""}) {
    EXPECT_EQ(good("\"abc\"" + std::string(parameters)), "abc") << parameters;
  }
}

TEST(KeyField, refuses_what_only_resembles_parameters) {
  for (const char* tail : {"x", ";", ";A=1", ";a=", ";a=\"x", ";a=?2", ";a=:x", "; =1", ";a=1 2", ";a = 1",
                           ";a=\x01", " ;a", ";a=-", ";a=1."}) {
    EXPECT_THAT(fault("\"abc\"" + std::string(tail)), HasSubstr("closing double quote")) << tail;
  }
}

TEST(KeyField, says_where_a_bare_key_goes_wrong) {
  EXPECT_EQ(fault("a b"), "a space at character 2 cannot stand in a key without double quotes around it");
  EXPECT_THAT(fault("ab,c"), HasSubstr("a comma at character 3"));
  EXPECT_THAT(fault("abc;x=1"), HasSubstr("a semicolon at character 4"));
  EXPECT_THAT(fault("ab\"c"), HasSubstr("a double quote at character 3"));
  EXPECT_THAT(fault("ab\\c"), HasSubstr("a backslash at character 3"));
  EXPECT_THAT(fault("a\tb"), HasSubstr("a tab at character 2"));
}

// interledger/settlement-engines PR10: such keys broke the store.
TEST(KeyField, refuses_what_is_not_ascii_in_both_forms) {
  EXPECT_EQ(fault("caf\xc3\xa9"), "the byte 0xc3 at character 4 is not visible ASCII");
  EXPECT_EQ(fault("\"caf\xc3\xa9\""), "the byte 0xc3 at character 5 is not printable ASCII");
  EXPECT_THAT(fault(std::string_view("a\0b", 3)), HasSubstr("0x00"));
  EXPECT_THAT(fault("\"a\x7f\""), HasSubstr("0x7f"));
  EXPECT_THAT(fault("\"a\tb\""), HasSubstr("a tab"));
}

TEST(KeyField, refuses_two_keys_in_one_line) {
  EXPECT_THAT(fault("\"a\", \"b\""), HasSubstr("a list of keys"));
  EXPECT_THAT(fault("\"a\",\"a\""), HasSubstr("a list of keys"));
}

TEST(KeyField, refuses_a_string_that_does_not_end_or_escapes_wrongly) {
  EXPECT_EQ(fault("\"abc"), "the closing double quote is missing");
  EXPECT_EQ(fault("\""), "the closing double quote is missing");
  EXPECT_THAT(fault(R"("a\nb")"), HasSubstr("backslash at character 3"));
  EXPECT_THAT(fault(R"("a\)"), HasSubstr("backslash"));
}

TEST(KeyField, counts_characters_of_the_key_and_not_of_its_spelling) {
  EXPECT_EQ(fault(""), "the key is empty");
  EXPECT_EQ(fault("  "), "the key is empty");
  EXPECT_EQ(fault("\"\""), "the key is empty");
  EXPECT_EQ(good(std::string(255, 'k')), std::string(255, 'k'));
  EXPECT_EQ(fault(std::string(256, 'k')), "the key has 256 characters, and at most 255 are allowed");
  std::string escaped = "\"";
  for (int i = 0; i < 255; ++i) escaped += "\\\\";
  EXPECT_EQ(good(escaped + "\""), std::string(255, '\\'));
  EXPECT_THAT(fault(escaped + "\\\\\""), HasSubstr("256"));
}

TEST(KeyField, never_repeats_the_value) {
  for (const char* line : {"se cret", "\"secret", "\"secret\"x", "sec,ret"}) {
    EXPECT_THAT(fault(line), testing::Not(HasSubstr("sec"))) << line;
  }
}

TEST(KeySpelling, knows_what_the_bare_form_can_say_and_reads_back_the_quoted_one) {
  EXPECT_TRUE(has_bare_form("abc-123_~:/"));
  for (const char* key : {"", "a b", "a,b", "a;b", "a\"b", "a\\b"}) {
    EXPECT_FALSE(has_bare_form(key)) << key;
    if (*key != '\0') {
      EXPECT_EQ(good(quoted_form(key)), key);
    }
  }
}

}  // namespace
}  // namespace stet::identify
