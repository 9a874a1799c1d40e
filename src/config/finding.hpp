#pragma once
// What is wrong with a configuration, and where. Programs show a finding as one line.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stet::config {

// Where a value was said: in a file, in the environment or on the command line.
struct Place {
  std::string source;        // "stet.toml", "STET_LISTEN", "--set defaults.wait"
  std::uint32_t line = 0;    // from 1; 0: the source has no lines
  std::uint32_t column = 0;  // from 1, in characters
  std::string text() const;  // "stet.toml:3:10", "--set defaults.wait"
};

enum class Severity : std::uint8_t { error, warning };

struct Finding {
  Severity severity = Severity::error;
  Place place;
  std::string what;          // what is wrong, and what was meant
  std::string text() const;  // "stet.toml:3:10: …"; a warning says that it is one
};

class Findings {
 public:
  void error(const Place&, std::string what);
  void warning(const Place&, std::string what);
  bool any_error() const;
  // In the order of the sources' lines; the order in which the sources were read is kept.
  std::vector<Finding> take();

 private:
  std::vector<Finding> all_;
};

}  // namespace stet::config
