#pragma once
// The commands of the binary. Each file of this directory adds one to the application; main.cpp runs the one
// that was asked for.

#include <functional>

namespace CLI {
class App;
}

namespace stet::app {

// Exit codes, the same for every command.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;       // what was checked or asked for did not hold
inline constexpr int kUsage = 2;        // the command line or the configuration is wrong
inline constexpr int kEnvironment = 3;  // a store, a port or a file cannot be had

// Set by the callback of the subcommand that was named, and called after everything has been parsed.
using Run = std::function<int()>;

void add_serve(CLI::App&, Run&);
void add_check_config(CLI::App&, Run&);
void add_keys(CLI::App&, Run&);
void add_demo_api(CLI::App&, Run&);
void add_probe(CLI::App&, Run&);
void add_schema(CLI::App&, Run&);

}  // namespace stet::app
