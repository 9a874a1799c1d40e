#pragma once
// Fields of a record that a column can hold in more ways than a record can: numbers for what is named, bytes
// for what has a fixed length. The same for the gateway's file (rows.cpp) and for tables in a user's
// (session/operations.cpp).

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "stet/record.hpp"

namespace stet::stores::sqlite {

// As a column, or a hash, takes them.
template <class T, std::size_t N>
std::string_view view(const std::array<T, N>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), N * sizeof(T)};
}

// As they stand in the file, before anybody has looked at their range.
struct ClaimFields {
  std::int64_t state;
  std::int64_t attempt;
  std::int64_t on_unknown;
  std::string_view nonce;
  std::string_view fingerprint;
};

// false: one of them is out of its range, and what the record says now means nothing.
[[nodiscard]] bool read(const ClaimFields&, Record& into);

// Without its body. Nothing: one of them is out of its range.
std::optional<Answer> read_answer(std::int64_t status, std::int64_t kept, std::string_view packed_headers);

}  // namespace stet::stores::sqlite
