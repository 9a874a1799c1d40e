#pragma once
// A run as text, for whoever reads it: people, programs, CI servers, pull requests.

#include <string>
#include <vector>

#include "probe/finding.hpp"

namespace stet::probe {

enum class Colour : std::uint8_t { yes, no };

// Text comes in pieces, so that a terminal shows each finding as it is made.
std::string text_heading(const Report&);
std::string text_finding(const Finding&, Colour);
std::string text_ending(const Report&, Colour);

// One object; for several targets an object with a list of them.
std::string to_json(const std::vector<Report>&);
std::string to_junit(const std::vector<Report>&);
std::string to_markdown(const std::vector<Report>&);

}  // namespace stet::probe
