#pragma once
// An upstream's answer on its way to the caller, as it arrives.

#include "gateway/session.hpp"
#include "gateway/upstream_attempt.hpp"
#include "http/response_reader.hpp"
#include "http/serialize.hpp"

namespace stet::gateway {

// How the caller gets a body that the upstream frames so (RFC 9112 section 6).
http::OutgoingBody outgoing_body(http::BodyFraming, std::uint64_t content_length, int client_minor);

// Writes `pending` (a head, and a body that was read already) and then the rest of the body. `whole`: the caller has
// every byte. Otherwise its connection was reset, because a clean end could look like the end of the answer.
enum class Relayed : std::uint8_t { whole, broken };
// An upstream that sends nothing for `patience` is given up; none: a stream may be silent for as long as it likes.
Task<Relayed> relay_body(Session&, UpstreamLink&, http::ResponseReader&, http::OutgoingBody, std::string pending,
                         std::optional<milliseconds> patience = std::nullopt);

// An answer too large to keep, from its head on.
Task<After> relay_rest(Session&, Request&, Response head, UpstreamAttempt::Rest);

}  // namespace stet::gateway
