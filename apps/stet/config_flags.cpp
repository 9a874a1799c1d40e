#include "config_flags.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

#include "config/keys.hpp"

namespace stet::app {
namespace {

// From the list by which keys are read and checked, so that the help cannot differ from what is done.
std::string explain(std::string_view name, std::string_view variable) {
  for (const config::KeyInfo& key : config::all_keys()) {
    if (key.name != name) continue;
    std::string text = std::string(key.meaning) + " (" + std::string(variable) + ")";
    if (!key.default_value.empty()) text += " [" + std::string(key.default_value) + "]";
    return text;
  }
  return {};
}

}  // namespace

void add_config_flags(CLI::App& command, config::Flags& flags, ConfigFile file) {
  command.add_option("--upstream", flags.upstream, explain("upstream", "STET_UPSTREAM"))
      ->type_name("URL")
      ->allow_extra_args(false);
  command.add_option("--listen", flags.listen, explain("listen", "STET_LISTEN"))->type_name("HOST:PORT");
  command.add_option("--admin", flags.admin, explain("admin", "STET_ADMIN"))->type_name("HOST:PORT");
  command.add_option("--store", flags.store, explain("store", "STET_STORE"))->type_name("URL");
  command.add_option("--log", flags.log, explain("log.format", "STET_LOG"))->type_name("FORMAT");
  if (file == ConfigFile::flag)
    command.add_option("--config", flags.file, "a configuration in TOML (STET_CONFIG)")->type_name("FILE");
  command
      .add_option("--set", flags.set,
                  "any key, its value in TOML: --set 'defaults.wait=\"2s\"'; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void show(const std::vector<config::Finding>& findings) {
  for (const config::Finding& finding : findings) std::cerr << finding.text() << '\n';
}

}  // namespace stet::app
