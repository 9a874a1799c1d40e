#pragma once
// Boost.Beast's parser as a second opinion: whatever our parser accepts, Beast has to accept as the same
// message with the same end. The other way round does not hold, and that is why Beast is not the one who
// decides (docs/adr/0003-one-strict-parser.md).

#include <optional>
#include <string>
#include <string_view>

namespace stet::wire {

// What Beast makes otherwise of the requests that we accept from this stream, or of what we then send to the
// upstream; nothing when it agrees.
std::optional<std::string> disagreement_about_requests(std::string_view bytes);

// The same for an answer after which the stream ends.
std::optional<std::string> disagreement_about_answer(std::string_view bytes, std::string_view method);

// Whether Beast alone would take the first request of the stream as complete: for the list of what it lets
// through.
bool beast_accepts_request(std::string_view bytes);

}  // namespace stet::wire
