#pragma once
// Reads the keys of one table (the top level, [defaults], a [[route]]), dotted or as tables, and reports
// those that nobody knows.

#include <vector>

#include "config/keys.hpp"

namespace stet::config {

// What a table may hold, and where its name is wrong, what to say.
enum class Section : std::uint8_t { top, defaults, route };

// Calls `read` for each known key; reports the rest.
struct Leaf {
  std::string name;
  Place key_place;
  const Value& value;
};
std::vector<Leaf> leaves(const Value& table, Section, Findings&);

}  // namespace stet::config
