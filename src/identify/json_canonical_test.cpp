#include "identify/json_canonical.hpp"

#include <gtest/gtest.h>

#include "identify/decimal.hpp"
#include "identify/json_random_for_test.hpp"

namespace stet::identify {
namespace {

std::string form(std::string_view text) {
  std::string out;
  return append_canonical_json(out, text) ? out : "(bytes)";
}

std::string part(std::string_view text, const std::vector<std::string>& ignore,
                 const std::vector<std::string>& only = {}) {
  JsonDocument document;
  std::string out;
  return document.parse(text) && append_canonical(out, document, ignore, only) ? out : "(bytes)";
}

std::string number(std::string_view text) {
  std::string out;
  return append_decimal(out, text) ? out : "(absurd)";
}

TEST(Decimal, has_one_spelling_for_each_value) {
  for (const char* one :
       {"1", "1.0", "1e0", "1E+0", "1e-0", "10e-1", "0.1e1", "0.0001e4", "1.000e00", "100000e-5"}) {
    EXPECT_EQ(number(one), "1e0") << one;
  }
  for (const char* zero : {"0", "-0", "0.0", "-0.000", "0e7", "0e-99999999", "0.00e+5"})
    EXPECT_EQ(number(zero), "0") << zero;
  EXPECT_EQ(number("1500"), "15e2");
  EXPECT_EQ(number("-12.340"), "-1234e-2");
  EXPECT_EQ(number("10.01"), "1001e-2");
}

TEST(Decimal, tells_apart_what_doubles_do_not) {
  EXPECT_NE(number("9007199254740992"), number("9007199254740993"));
  EXPECT_NE(number("0.1"), number("0.1000000000000000055511151231257827"));
  EXPECT_NE(number("1e400"), number("1e401"));
  EXPECT_NE(number("1e-400"), number("0"));
  EXPECT_NE(number("1e23"), number("9.999999999999999e22"));
  EXPECT_NE(number("-1"), number("1"));
}

TEST(Decimal, gives_up_on_absurd_exponents_only) {
  EXPECT_EQ(number("1e999999999"), "1e999999999");
  EXPECT_EQ(number("1e1000000000"), "(absurd)");
  EXPECT_EQ(number("1e-1000000000"), "(absurd)");
  EXPECT_EQ(number("1e99999999999999999999999999"), "(absurd)");
  EXPECT_EQ(number("1e0000000000000000000000000000001"), "1e1");
}

TEST(Decimal, writes_whole_numbers_out) {
  EXPECT_EQ(whole_number("1.50e3", 255), "1500");
  EXPECT_EQ(whole_number("-0", 255), "0");
  EXPECT_EQ(whole_number("-42", 255), "-42");
  EXPECT_EQ(whole_number("1.5", 255), std::nullopt);
  EXPECT_EQ(whole_number("1e255", 255), std::nullopt);
  EXPECT_EQ(whole_number("1e254", 255), "1" + std::string(254, '0'));
}

// apache/fineract PR5674: a normaliser confused member order and nulls.
TEST(CanonicalJson, is_blind_to_order_whitespace_escapes_and_number_spelling) {
  EXPECT_EQ(form(R"({"b":2,"a":[1,null]})"), form(" {\n\"a\" : [1.0e0,\tnull] , \"b\":20e-1 }\r\n"));
  EXPECT_EQ(form(R"({"caf\u00e9":"\u0041\/\ud83d\ude00\n"})"),
            form("{\"caf\xc3\xa9\":\"A/\xf0\x9f\x98\x80\\u000a\"}"));
  EXPECT_EQ(form(R"({"b":{"d":1,"c":2},"a":0})"), form(R"({"a":-0,"b":{"c":2,"d":1}})"));
  EXPECT_EQ(form("\"\\u0000\""), form("\"\\u0000\""));
}

TEST(CanonicalJson, differs_wherever_the_values_differ) {
  const char* all[] = {
      "null",
      "true",
      "false",
      "0",
      "1",
      "-1",
      "10",
      "\"\"",
      "\"0\"",
      "\"1\"",
      "\"null\"",
      "[]",
      "{}",
      "[[]]",
      "[{}]",
      "[null]",
      "[0]",
      "[\"0\"]",
      "{\"a\":null}",
      "{\"a\":0}",
      "{\"a\":\"0\"}",
      "{\"a\":[]}",
      "{\"a\":{}}",
      "{\"A\":0}",
      "{\"a\":0,\"b\":0}",
      "{\"a\":{\"b\":0}}",
      "[1,2]",
      "[2,1]",
      "[12]",
      "[1,[2]]",
      "[[1],2]",
      "[[1,2]]",
      "[\"1,2\"]",
      "[\"1\",\"2\"]",
      "{\"\":0}",
      "{\"a\":\"b\",\"c\":\"d\"}",
      "{\"a\":\"b$1:c$1:d\"}",
      "9007199254740992",
      "9007199254740993",
      "1e400",
      "1e401",
      "0.1",
      "1e-1000",
      "\"\\u0000\"",
      "\"\\u00e9\"",
      "\"e\\u0301\"",
      "{\"a\":[1,2],\"b\":3}",
      "{\"a\":[1],\"b\":[2,3]}",
      "[{\"a\":1},{\"b\":2}]",
      "[{\"a\":1,\"b\":2}]",
  };
  std::map<std::string, std::string> seen;
  for (const char* text : all) {
    const auto [earlier, fresh] = seen.emplace(form(text), text);
    EXPECT_TRUE(fresh) << text << " and " << earlier->second;
  }
}

TEST(CanonicalJson, leaves_to_bytes_what_is_not_certainly_one_thing) {
  std::string deep(65, '[');
  deep += std::string(65, ']');
  for (const std::string& text : {std::string(""),
                                  std::string(" "),
                                  std::string("{"),
                                  std::string("[1,]"),
                                  std::string("{\"a\":1,}"),
                                  std::string("01"),
                                  std::string("1."),
                                  std::string(".5"),
                                  std::string("+1"),
                                  std::string("NaN"),
                                  std::string("'a'"),
                                  std::string("1 2"),
                                  std::string("{}x"),
                                  std::string("\xef\xbb\xbf{}"),
                                  std::string("// c\n1"),
                                  std::string("\"\t\""),
                                  std::string(R"({"a":1,"a":1})"),
                                  std::string(R"({"a":1,"\u0061":2})"),
                                  std::string(R"([{"x":{"a":1,"b":2,"a":3}}])"),
                                  std::string(R"("\ud800")"),
                                  std::string(R"("\udc00")"),
                                  std::string(R"("\ud800\u0041")"),
                                  std::string("\"\xff\""),
                                  std::string("\"\xc0\x80\""),
                                  std::string("\"\xed\xa0\x80\""),
                                  std::string("1e1000000000"),
                                  std::string("[1e-1000000000]"),
                                  std::string("1e99999999999999999999"),
                                  std::string("nul"),
                                  deep,
                                  std::string("[\0]", 3)}) {
    EXPECT_EQ(form(text), "(bytes)") << text;
  }
  EXPECT_NE(form(deep.substr(1, 128)), "(bytes)");
}

TEST(CanonicalJson, has_a_bound_on_its_memory) {
  std::string many = "[0";
  for (std::size_t i = 2; i < JsonDocument::kMaxValues; ++i) many += ",0";
  EXPECT_NE(form(many + "]"), "(bytes)");
  EXPECT_EQ(form(many + ",0]"), "(bytes)");
  EXPECT_EQ(form("[1]"), "[#1e0;]");
}

TEST(CanonicalJson, keeps_long_strings_and_many_escapes_whole) {
  std::string escaped;
  std::string plain;
  for (int i = 0; i < 5000; ++i) {
    escaped += "\\u00e9x\\n";
    plain += "\xc3\xa9x\\u000A";
  }
  EXPECT_EQ(form("{\"k\":\"" + escaped + "\",\"l\":\"" + escaped + "\"}"),
            form("{\"l\":\"" + plain + "\",\"k\":\"" + plain + "\"}"));
  EXPECT_NE(form("\"" + escaped + "\""), form("\"" + escaped + "x\""));
}

TEST(CanonicalJson, leaves_ignored_members_out_and_nothing_else) {
  EXPECT_EQ(part(R"({"a":1,"sent_at":"x"})", {"/sent_at"}), part(R"({"sent_at":[9],"a":1})", {"/sent_at"}));
  EXPECT_EQ(part(R"({"a":1,"sent_at":"x"})", {"/sent_at"}), part(R"({"a":1})", {"/sent_at"}));
  EXPECT_NE(part(R"({"a":1,"sent_at":"x"})", {"/sent_at"}), part(R"({"a":2,"sent_at":"x"})", {"/sent_at"}));
  EXPECT_NE(part(R"({"m":{"sent_at":1}})", {"/sent_at"}), part(R"({"m":{"sent_at":2}})", {"/sent_at"}));
  EXPECT_EQ(part(R"({"m":{"a/b":1,"c":[1,2,3]}})", {"/m/a~1b", "/m/c/1"}),
            part(R"({"m":{"c":[1,0,3],"a/b":0}})", {"/m/a~1b", "/m/c/1"}));
  EXPECT_NE(part(R"({"m":{"c":[1,2,3]}})", {"/m/c/01"}), part(R"({"m":{"c":[1,0,3]}})", {"/m/c/01"}));
}

TEST(CanonicalJson, keeps_only_what_is_named) {
  const std::vector<std::string> only{"/order/id", "/amount"};
  EXPECT_EQ(part(R"({"amount":1,"order":{"id":7,"note":"x"},"t":1})", {}, only),
            part(R"({"t":2,"amount":1,"order":{"note":"y","id":7}})", {}, only));
  EXPECT_NE(part(R"({"amount":1,"order":{"id":7}})", {}, only),
            part(R"({"amount":1,"order":{"id":8}})", {}, only));
  EXPECT_NE(part(R"({"amount":1})", {}, only), part(R"({"amount":1,"order":{"id":null}})", {}, only));
  EXPECT_EQ(part(R"({"amount":{"v":1,"at":2}})", {"/amount/at"}, {"/amount"}),
            part(R"({"amount":{"v":1,"at":3}})", {"/amount/at"}, {"/amount"}));
  EXPECT_EQ(part(R"([{"a":1,"b":1},{"a":2}])", {}, {"/0/a"}),
            part(R"([{"a":1,"b":2},{"a":3}])", {}, {"/0/a"}));
}

TEST(CanonicalJson, never_makes_all_bodies_equal_by_a_misspelt_pointer) {
  EXPECT_NE(part(R"({"a":1})", {}, {"/amuont"}), part(R"({"a":2})", {}, {"/amuont"}));
  EXPECT_NE(part(R"({"order":"x"})", {}, {"/order/id"}), part(R"({"order":"y"})", {}, {"/order/id"}));
  EXPECT_NE(part("1", {}, {"/a"}), part("2", {}, {"/a"}));
}

TEST(CanonicalJson, is_the_same_for_every_spelling_of_a_random_value) {
  RandomJson random(20261129);
  for (int i = 0; i < 3000; ++i) {
    const auto value = random.value(4);
    const std::string one = random.spell(value);
    const std::string two = random.spell(value);
    ASSERT_NE(form(one), "(bytes)") << one;
    ASSERT_EQ(form(one), form(two)) << one << "\n" << two;
  }
}

TEST(CanonicalJson, differs_after_every_small_change_of_a_random_value) {
  RandomJson random(8259);
  for (int i = 0; i < 3000; ++i) {
    auto value = random.value(4);
    const std::string before = random.spell(value);
    random.change(value);
    const std::string after = random.spell(value);
    ASSERT_NE(form(before), form(after)) << before << "\n" << after;
  }
}

}  // namespace
}  // namespace stet::identify
