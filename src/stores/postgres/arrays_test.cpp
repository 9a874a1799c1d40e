#include "stores/postgres/arrays.hpp"

#include <gtest/gtest.h>

#include "core/digest.hpp"
#include "stores/postgres/big_endian.hpp"

namespace stet::stores::postgres {
namespace {

std::string hex(const std::string& bytes) {
  return to_hex(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

// What `SELECT array_send(ARRAY[1, NULL, -2]::int4[])` says.
TEST(Arrays, are_written_as_postgresql_sends_them) {
  Array array(Type::int4);
  array.add(std::int32_t{1});
  array.add_null();
  array.add(std::int32_t{-2});
  EXPECT_EQ(hex(array.bytes()),
            "000000010000000100000017"
            "0000000300000001"
            "0000000400000001"
            "ffffffff"
            "00000004fffffffe");
  EXPECT_EQ(array.type(), 1007U);
}

TEST(Arrays, have_no_dimension_when_they_are_empty) {
  Array array(Type::bytea);
  EXPECT_EQ(hex(array.bytes()), "000000000000000000000011");
}

TEST(Arrays, keep_bytes_as_they_are_and_put_a_version_before_a_jsonb) {
  Array bytes(Type::bytea);
  bytes.add(std::string_view("a\0", 2));
  bytes.add(std::string_view(""));
  EXPECT_EQ(hex(bytes.bytes()).substr(40),
            "000000026100"
            "00000000");
  Array json(Type::jsonb);
  json.add(std::string_view("[]"));
  EXPECT_EQ(hex(json.bytes()).substr(40),
            "00000003"
            "015b5d");
  EXPECT_EQ(json.type(), 3807U);
}

TEST(Arrays, take_the_widths_of_their_elements) {
  Array shorts(Type::int2);
  shorts.add(std::int16_t{258});
  EXPECT_EQ(hex(shorts.bytes()).substr(40), "000000020102");
  Array longs(Type::int8);
  longs.add(std::int64_t{-1});
  longs.add_null();
  EXPECT_EQ(hex(longs.bytes()).substr(40),
            "00000008ffffffffffffffff"
            "ffffffff");
  EXPECT_EQ(big_endian<std::int64_t>(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xfe", 8)), -2);
}

TEST(Parameters, point_to_what_they_were_given) {
  Array array(Type::uuid);
  array.add(Nonce::random().bytes);
  Parameters parameters;
  parameters.add(array);
  parameters.add(true);
  parameters.add_null(Type::bytea);
  parameters.add_text("");
  ASSERT_EQ(parameters.count(), 4);
  EXPECT_EQ(parameters.types()[0], 2951U);
  EXPECT_EQ(parameters.lengths()[0], 40);
  EXPECT_EQ(*parameters.values()[1], '\1');
  EXPECT_EQ(parameters.values()[2], nullptr);
  EXPECT_NE(parameters.values()[3], nullptr) << "an empty text is not NULL";
  EXPECT_EQ(parameters.formats()[3], 1);
}

TEST(Parameters, take_the_element_of_an_array_of_one_by_itself) {
  Array json(Type::jsonb);
  json.add(std::string_view("[]"));
  Array nothing(Type::bytea);
  nothing.add_null();
  Parameters parameters;
  parameters.add_element(json);
  parameters.add_element(nothing);
  ASSERT_EQ(parameters.count(), 2);
  EXPECT_EQ(parameters.types()[0], 3802U);
  EXPECT_EQ(parameters.types()[1], 17U);
  EXPECT_EQ(hex(std::string(parameters.values()[0], static_cast<std::size_t>(parameters.lengths()[0]))), "015b5d");
  EXPECT_EQ(parameters.values()[1], nullptr);
}

}  // namespace
}  // namespace stet::stores::postgres
