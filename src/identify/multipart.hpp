#pragma once
// The canonical form of a multipart/form-data body (RFC 7578, RFC 2046 section 5.1): its parts, not its
// boundary, which a client that builds the body again picks anew.

#include <string>
#include <string_view>

namespace stet::identify {

// Appends the parts in their order: header lines (names in lower case, values trimmed, in their order) and
// content. false, and nothing appended: not a well-formed body of this boundary, or one with text before the
// first or after the last part; it is hashed as bytes.
[[nodiscard]] bool append_canonical_multipart(std::string& out, std::string_view body,
                                              std::string_view boundary);

}  // namespace stet::identify
