#pragma once
// Keys for the calls that an operation makes to others.
//
// A retry must bring the provider the same key, and another operation must not: so the key is made from the
// operation's own identity and the purpose of the call. The result is a UUID (RFC 9562 version 8): the first
// 128 bits of SHA-256 over the name "stet derived key", the inputs and the purpose, each preceded by its
// length, with the version and variant bits set. In every version of this library the same inputs give the
// same UUID.
//
// What makes an operation is its scope, its key and what was asked (the fingerprint), and nothing that its
// record alone knows. So a late retry brings the provider the same key even where we have forgotten the
// operation: past its retention and tombstone, after its release by an operator, after a failover to a
// standby that lagged. A provider that still remembers then charges nothing twice. Two things follow. Another
// intent under a key that we have forgotten has another fingerprint, and so another derived key. The same
// words under a forgotten key are the same operation, to us and to the provider: whoever means another one
// needs a new key, however old the first is.

#include <string>
#include <string_view>

#include "stet/identity.hpp"

namespace stet {

// For one operation: what phases use (Running::derive), and a Completer's Resume with what its Record says.
std::string derive(const OperationId&, const Fingerprint&, std::string_view purpose);

// For a key that is unique by itself, whoever sends it. A client's Idempotency-Key is not, when you call the
// provider with one account for all your tenants: two tenants' "order-1" would be one charge. Use the form
// above then.
std::string derive(std::string_view key, std::string_view purpose);

}  // namespace stet
