#include "stores/header_bytes.hpp"

#include <gtest/gtest.h>

namespace stet::stores {
namespace {

TEST(HeaderBytes, come_back_as_they_were) {
  const Headers headers{{"A", "1, 2"}, {"", ""}, {"a", std::string("\0\n", 2)}, {"A", "1, 2"}};
  EXPECT_EQ(unpack_headers(pack(headers)), headers);
  EXPECT_EQ(unpack_headers(""), Headers{});
}

TEST(HeaderBytes, are_refused_when_a_byte_is_missing) {
  const std::string whole = pack({{"Location", "/charges/1"}});
  for (std::size_t size = 1; size < whole.size(); ++size)
    EXPECT_FALSE(unpack_headers(whole.substr(0, size))) << size;
  EXPECT_FALSE(unpack_headers(std::string(4, '\xff')));
}

}  // namespace
}  // namespace stet::stores
