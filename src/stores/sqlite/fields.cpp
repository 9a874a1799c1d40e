#include "stores/sqlite/fields.hpp"

#include <cstring>
#include <utility>

#include "stores/header_bytes.hpp"

namespace stet::stores::sqlite {
namespace {

template <std::size_t N>
bool copy(std::string_view from, std::array<std::uint8_t, N>& to) {
  if (from.size() != N) return false;
  std::memcpy(to.data(), from.data(), N);
  return true;
}

bool within(std::int64_t value, std::int64_t most) {
  return value >= 0 && value <= most;
}

}  // namespace

bool read(const ClaimFields& fields, Record& into) {
  into.state = static_cast<State>(fields.state);
  into.token.attempt = static_cast<std::uint32_t>(fields.attempt);
  into.terms.on_unknown = static_cast<OnUnknown>(fields.on_unknown);
  return within(fields.state, static_cast<std::int64_t>(State::expired)) &&
         within(fields.attempt, UINT32_MAX) &&
         within(fields.on_unknown, static_cast<std::int64_t>(OnUnknown::joined)) &&
         copy(fields.nonce, into.token.nonce.bytes) && copy(fields.fingerprint, into.fingerprint.digest);
}

std::optional<Answer> read_answer(std::int64_t status, std::int64_t kept, std::string_view packed_headers) {
  std::optional<Headers> headers = unpack_headers(packed_headers);
  if (!within(status, 999) || !within(kept, static_cast<std::int64_t>(Kept::head_only)) || !headers) {
    return std::nullopt;
  }
  return Answer{static_cast<int>(status), *std::move(headers), "", static_cast<Kept>(kept)};
}

}  // namespace stet::stores::sqlite
