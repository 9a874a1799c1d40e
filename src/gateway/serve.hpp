#pragma once
// The gateway as a process: opens the store and the ports, serves until SIGTERM or SIGINT, drains, returns.

#include <functional>
#include <memory>
#include <string>

#include "config/config.hpp"
#include "stet/error.hpp"

namespace stet::gateway {

// Reads the configuration again at SIGHUP. The error is what a person has to read; the old configuration stays.
using Reload = std::function<Expected<std::shared_ptr<const config::Config>, std::string>()>;

// Blocks. Returns the exit code of the process: 0 after a drain, 3 when a port is taken or the store cannot be
// opened (said in the log, and only there). Call it once in a process, before any other thread is started: it
// blocks SIGTERM, SIGINT and SIGHUP for the threads that it makes.
int serve(std::shared_ptr<const config::Config>, const Reload&);

}  // namespace stet::gateway
