#include "http/target.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stet::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

TEST(PercentDecode, takes_two_hex_digits_or_nothing) {
  EXPECT_EQ(percent_decode("a%20b%c3%A9"), "a b\xc3\xa9");
  EXPECT_EQ(percent_decode("a+b"), "a+b");
  EXPECT_EQ(percent_decode("%"), std::nullopt);
  EXPECT_EQ(percent_decode("%4"), std::nullopt);
  EXPECT_EQ(percent_decode("%4g"), std::nullopt);
  EXPECT_EQ(percent_decode("%00"), std::string(1, '\0'));
}

TEST(NormalisePath, makes_one_of_all_spellings) {
  for (const char* spelling :
       {"/admin/keys", "//admin///keys", "/%61dmin/keys", "/./admin/./keys", "/x/../admin/keys",
        "/x/%2e%2E/admin/keys", "/../../admin/keys", "/%2e/admin/keys"}) {
    EXPECT_EQ(normalise_path(spelling), "/admin/keys") << spelling;
  }
}

TEST(NormalisePath, keeps_a_trailing_slash_and_the_root) {
  EXPECT_EQ(normalise_path("/a/"), "/a/");
  EXPECT_EQ(normalise_path("/a/b/.."), "/a/");
  EXPECT_EQ(normalise_path("/a/."), "/a/");
  EXPECT_EQ(normalise_path("/"), "/");
  EXPECT_EQ(normalise_path(""), "/");
  EXPECT_EQ(normalise_path("/.."), "/");
  EXPECT_EQ(normalise_path("/..."), "/...");
}

TEST(NormalisePath, does_not_decode_what_would_be_read_again) {
  EXPECT_EQ(normalise_path("/a%2fb"), "/a%2Fb");
  EXPECT_EQ(normalise_path("/a%252fb"), "/a%252fb");
  EXPECT_NE(normalise_path("/a%252Fb"), normalise_path("/a%2Fb"));
  EXPECT_EQ(normalise_path("/a%00"), std::nullopt);
  EXPECT_EQ(normalise_path("/%zz"), std::nullopt);
}

TEST(PathSegments, are_decoded_one_by_one) {
  EXPECT_THAT(path_segments("/a/b%2Fc/"), Optional(ElementsAre("a", "b/c", "")));
  EXPECT_THAT(path_segments("/"), Optional(ElementsAre("")));
  EXPECT_EQ(path_segments("/%"), std::nullopt);
}

TEST(QueryValues, are_found_decoded_and_in_order) {
  EXPECT_THAT(query_values("ref=a&x=1&ref=b%20c", "ref"), Optional(ElementsAre("a", "b c")));
  EXPECT_THAT(query_values("r%65f=a+b", "ref"), Optional(ElementsAre("a b")));
  EXPECT_THAT(query_values("ref&ref=", "ref"), Optional(ElementsAre("", "")));
  EXPECT_THAT(query_values("", "ref"), Optional(IsEmpty()));
  EXPECT_THAT(query_values("reference=1&&", "ref"), Optional(IsEmpty()));
  EXPECT_EQ(query_values("ref=%zz", "ref"), std::nullopt);
}

TEST(JoinTarget, goes_below_the_upstreams_own_path) {
  EXPECT_EQ(join_target("/api", "/charges?x"), "/api/charges?x");
  EXPECT_EQ(join_target("/api/", "/charges"), "/api/charges");
  EXPECT_EQ(join_target("", "/charges"), "/charges");
  EXPECT_EQ(join_target("/", "/charges"), "/charges");
  EXPECT_EQ(join_target("/api", "*"), "*");
}

}  // namespace
}  // namespace stet::http
