#pragma once
// The two units of a JSON string that are longer than a byte: an escape, and a character of UTF-8.

#include <string>

namespace stet::identify {

// `at` stands at a backslash; afterwards behind the escape (both halves of a surrogate pair). false: not one of
// RFC 8259 section 7, or half a pair.
[[nodiscard]] bool append_unescaped(std::string& out, const char*& at, const char* end);

// `at` stands at a byte beyond ASCII; afterwards behind its character. false: not UTF-8 (RFC 3629: overlong,
// surrogates, beyond U+10FFFF, cut short).
[[nodiscard]] bool skip_utf8(const char*& at, const char* end);

}  // namespace stet::identify
