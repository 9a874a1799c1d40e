#pragma once
// What a database takes for text.

#include <string_view>

namespace stet::stores {

// UTF-8 (RFC 3629: nothing overlong, no surrogates) without NUL.
bool is_text(std::string_view bytes);

}  // namespace stet::stores
