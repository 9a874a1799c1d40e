#pragma once
// Semantic versioning: before 1.0 a new minor version may change what these headers say (docs/library.md).

#include <string_view>

namespace stet {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace stet
