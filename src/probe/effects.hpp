#pragma once
// How many effects there have been: the probe's witness, independent of what the API says of itself.

#include <memory>
#include <optional>
#include <string>

#include "probe/exchange.hpp"

namespace stet::probe {

class Effects {
 public:
  Effects() = default;
  Effects(const Effects&) = delete;
  Effects& operator=(const Effects&) = delete;
  virtual ~Effects() = default;
  virtual Expected<std::int64_t, std::string> count(const Route&) = 0;
  virtual std::string describe() const = 0;
};

// The answer to a request: the number or list at an RFC 6901 pointer of its JSON, or a header with a number,
// or a body that is a number (neither given).
struct CountPlace {
  std::optional<std::string> pointer;
  std::optional<std::string> header;
};
std::unique_ptr<Effects> effects_of_request(Request, CountPlace);

// A shell command that prints a number.
std::unique_ptr<Effects> effects_of_command(std::string command);

// Waits for late effects: reads until the number has stood still for `settle`, and longer (up to `late`)
// while it is below `expected`.
struct Settling {
  std::chrono::milliseconds settle{150};
  std::chrono::milliseconds late{2'000};
};
Expected<std::int64_t, std::string> settled_count(Effects&, const Route&, const Settling&,
                                                  std::int64_t expected);

}  // namespace stet::probe
