#pragma once
// From a file, the environment and the command line to a checked configuration. Flags beat the environment,
// which beats the file, which beats the defaults. Every mistake is reported at once.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/finding.hpp"
#include "stet/error.hpp"

namespace stet::config {

// What the command line said.
struct Flags {
  std::optional<std::string> file;    // --config
  std::optional<std::string> listen;  // --listen
  std::optional<std::string> admin;
  std::vector<std::string> upstream;  // --upstream, may be repeated
  std::optional<std::string> store;
  std::optional<std::string> log;  // log.format
  std::vector<std::string> set;    // --set key=value; a flag of its own beats it
};

// Looks up one variable of the environment.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> process_environment(const std::string& name);

// Where a configuration comes from. Kept with the result, so that a reload reads the same places again.
struct Sources {
  Flags flags;
  Environment environment = &process_environment;
};

struct Loaded {
  std::shared_ptr<const Config> config;
  std::vector<Finding> warnings;
  Sources sources;
};

Expected<Loaded, std::vector<Finding>> load(Sources);
// The same places again (SIGHUP). On a mistake the caller keeps what it has and says so.
Expected<Loaded, std::vector<Finding>> reload(const Loaded&);

// The same from text instead of a file; `name` stands for the file in findings. For tests.
Expected<Loaded, std::vector<Finding>> load_text(std::string_view text, std::string name, Sources = {});

}  // namespace stet::config
