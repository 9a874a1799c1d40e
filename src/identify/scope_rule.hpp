#pragma once
// A scope rule as one line of text, kept with each record: "default", or the parts with a space between them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace stet::identify {

inline constexpr std::string_view kDefaultRule = "default";

// Sorted and each once, header names in lower case: the order in the file means nothing.
std::vector<config::ScopePart> settled(const std::vector<config::ScopePart>&);

std::string rule_text(const config::ScopePart&);
std::string rule_text(const std::vector<config::ScopePart>& settled);  // none: the default rule

// nothing: not a rule that this build knows.
std::optional<std::vector<config::ScopePart>> parse_rule(std::string_view);

}  // namespace stet::identify
