#include "config_flags.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

namespace stet::app {
namespace {

std::string text(const config::Endpoint& endpoint) { return endpoint.host + ":" + std::to_string(endpoint.port); }

}  // namespace

void add_config_flags(CLI::App& command, config::Flags& flags, ConfigFile file) {
  // The defaults are asked of the configuration, so that the help cannot differ from what is done.
  const config::Config defaults;
  command.add_option("--upstream", flags.upstream, "the API to protect; again for another, used in turn (STET_UPSTREAM)")
      ->type_name("URL");
  command.add_option("--listen", flags.listen, "where clients connect (STET_LISTEN) [" + text(defaults.listen) + "]")
      ->type_name("HOST:PORT");
  command.add_option("--admin", flags.admin, "where operators connect (STET_ADMIN) [" + text(defaults.admin) + "]")
      ->type_name("HOST:PORT");
  command.add_option("--store", flags.store, "where operations are kept (STET_STORE) [" + defaults.store + "]")->type_name("URL");
  command.add_option("--log", flags.log, "json, text or off (STET_LOG) [json]")->type_name("FORMAT");
  if (file == ConfigFile::flag)
    command.add_option("--config", flags.file, "a configuration in TOML (STET_CONFIG)")->type_name("FILE");
  command.add_option("--set", flags.set, "any key, its value in TOML: --set 'defaults.wait=\"2s\"'; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void show(const std::vector<config::Finding>& findings) {
  for (const config::Finding& finding : findings) std::cerr << finding.text() << '\n';
}

}  // namespace stet::app
