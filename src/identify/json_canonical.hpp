#pragma once
// The canonical form of a JSON body: two bodies have the same form exactly when they say the same (RFC 8259),
// numbers by their exact decimal value.

#include <string>
#include <string_view>
#include <vector>

#include "identify/json_document.hpp"

namespace stet::identify {

// Appends the form of what `only` (when it names anything) and `ignore` leave of the document, both RFC 6901
// pointers. `only` also keeps what stands in the way of a named member without being a container; and when
// nothing that it names is there, everything counts, so that a misspelt pointer never makes all bodies equal.
// The form is not JSON: { name value … } and [ value … ] with lengths before the strings, so that nothing
// needs escaping and no two trees share it. false, and `out` is of no use: a number has an absurd exponent.
[[nodiscard]] bool append_canonical(std::string& out, const JsonDocument&,
                                    const std::vector<std::string>& ignore,
                                    const std::vector<std::string>& only);

// The whole text; nothing appended and false: it is hashed as bytes.
[[nodiscard]] bool append_canonical_json(std::string& out, std::string_view text);

}  // namespace stet::identify
