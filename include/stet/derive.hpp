#pragma once
// Keys for the calls that an operation makes to others.
//
// A retry must bring the provider the same key, and another operation must not: so the key is made from the
// operation's own identity and the purpose of the call. The result is a UUID (RFC 9562 version 8): the first 128 bits
// of SHA-256 over the name "stet derived key", the input and the purpose, each preceded by its length, with the
// version and variant bits set. The same inputs give the same UUID, in every version of this library.

#include <string>
#include <string_view>

#include "stet/identity.hpp"

namespace stet {

// For one operation (scope and key): what phases use.
std::string derive(const OperationId&, std::string_view purpose);

// For a key that is unique by itself, whoever sends it. A client's Idempotency-Key is not, when you call the provider
// with one account for all your tenants: two tenants' "order-1" would be one charge. Use the form above then.
std::string derive(std::string_view key, std::string_view purpose);

}  // namespace stet
