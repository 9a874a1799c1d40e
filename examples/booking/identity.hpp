#pragma once
// Who asks, and for which hotel.

#include <charconv>
#include <optional>
#include <string>

#include "http.hpp"
#include "stet/identity.hpp"

namespace booking {

// The caller, as a name that may be stored. Trap: the credentials themselves in a table, a log or a scope.
// And in a real service this is the account that the verified token names: a token is refreshed between two
// attempts, an account is not.
inline std::optional<std::string> account_of(const Request& request) {
  const auto credentials = stet::http::header(request, "Authorization");
  if (!credentials) return std::nullopt;
  return stet::OperationId::of("account", *credentials).text();  // 128 bits of a SHA-256
}

// Ids of reservations and payments begin with their hotel, so that every statement finds its partition:
// "7-3f2a…". 0: no such thing.
inline std::int64_t hotel_of(std::string_view id) {
  std::int64_t hotel = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), hotel);
  return error == std::errc() && end != id.data() + id.size() && *end == '-' ? hotel : 0;
}

// A random id, unique in the hotel.
inline std::string new_id(std::int64_t hotel) {
  return std::to_string(hotel) + "-" + stet::OperationId{stet::Nonce::random().bytes}.text();
}

}  // namespace booking
