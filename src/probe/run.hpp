#pragma once
// A whole run of one API: gets to know it, runs the checks, reports.

#include <functional>

#include "probe/checks/check.hpp"

namespace stet::probe {

// Progress, for who is waiting. Called on the thread of run().
struct Progress {
  std::function<void(const Check&, int number, int of)> before;
  std::function<void(const Finding&)> after;
};

// Never throws for what the API does; a Report without findings says why.
Report run(const Settings&, const Progress& = {});

// The names in --check and --skip that no check has; empty: all are known.
std::vector<std::string> unknown_checks(const Settings&);

}  // namespace stet::probe
