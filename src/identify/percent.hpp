#pragma once
// Percent-encoding of text inside our own one-line formats (recipes, scope rules, natural keys).

#include <string>
#include <string_view>

namespace stet::identify {

// Everything but visible ASCII is encoded, and '%' and the characters of `also`. http::percent_decode undoes
// it.
void append_percent_encoded(std::string& out, std::string_view text, std::string_view also);

}  // namespace stet::identify
