#include <CLI/CLI.hpp>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

#include "command.hpp"
#include "config/keys.hpp"
#include "config_flags.hpp"

namespace stet::app {
namespace {

std::string where(config::Where where) {
  switch (where) {
    case config::Where::top:
      return "Keys of the top level, a table before the dot:";
    case config::Where::defaults_and_route:
      return "Keys of [defaults] and of each [[route]]:";
    case config::Where::route:
      return "Key of each [[route]] alone:";
  }
  return {};
}

// Every key, from the list by which they are read.
std::string key_list() {
  std::ostringstream out;
  config::Where last = config::Where::route;
  bool first = true;
  for (const config::KeyInfo& key : config::all_keys()) {
    if (first || key.where != last) out << '\n' << where(key.where) << '\n';
    first = false;
    last = key.where;
    out << "  " << std::left << std::setw(32) << key.name << key.meaning;
    if (!key.default_value.empty() && key.default_value != "[]") out << " [" << key.default_value << "]";
    out << '\n';
  }
  return out.str();
}

int check(const config::Flags& flags) {
  const auto loaded = config::load({flags});
  if (!loaded) {
    show(loaded.error());
    return kUsage;
  }
  show(loaded->warnings);
  const std::size_t routes = loaded->config->routes.size();
  std::cout << *flags.file << ": ok, " << routes << (routes == 1 ? " route" : " routes") << '\n';
  return kOk;
}

}  // namespace

void add_check_config(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("check-config", "reports every mistake in a configuration at once");
  auto flags = std::make_shared<config::Flags>();
  command->add_option("FILE", flags->file, "a configuration in TOML")->required();
  add_config_flags(*command, *flags, ConfigFile::none);
  command->footer(
      "Each mistake is a line `file:line:column: what is wrong, what was meant`. Environment and flags are "
      "taken into\n"
      "account as `stet serve` would. Exit status 0 when it is right, 2 when it is not.\n\n"
      "Example: stet check-config stet.toml\n" +
      key_list());
  command->callback([flags, &run] { run = [flags] { return check(*flags); }; });
}

}  // namespace stet::app
