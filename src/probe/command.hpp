#pragma once
// `stet probe` behind its flags.

#include <ostream>

#include "probe/options.hpp"
#include "probe/report.hpp"

namespace stet::probe {

enum class Format : std::uint8_t { text, json, junit, markdown };

struct Invocation {
  Options options;
  std::string suite;    // a file; then `options` are not used
  std::string explain;  // a check; nothing is probed
  Format format = Format::text;
  Colour colour = Colour::no;
  enum class Ticker : std::uint8_t { on, off } ticker = Ticker::off;  // progress on `err`, for a terminal
};

// The exit code: 0 nothing failed, 1 a check failed, 2 the invocation is wrong, 3 no verdict.
int execute(const Invocation&, std::ostream& out, std::ostream& err);

}  // namespace stet::probe
