#pragma once
// The flags with which a configuration is named and overridden, the same for each command that takes one.

#include <optional>
#include <string>

#include "config/load.hpp"

namespace CLI {
class App;
}

namespace stet::app {

enum class ConfigFile { flag, none };  // --config, or the command names the file in its own way
void add_config_flags(CLI::App&, config::Flags&, ConfigFile);

// One line each on stderr.
void show(const std::vector<config::Finding>&);

}  // namespace stet::app
