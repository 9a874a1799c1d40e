#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "admin/log.hpp"
#include "command.hpp"
#include "config_flags.hpp"
#include "gateway/serve.hpp"

namespace stet::app {
namespace {

std::string joined(const std::vector<config::Finding>& findings) {
  std::string text;
  for (const config::Finding& finding : findings) text += (text.empty() ? "" : "; ") + finding.text();
  return text;
}

int serve(const config::Flags& flags) {
  const auto loaded = config::load({flags});
  if (!loaded) {
    show(loaded.error());
    return kUsage;
  }
  if (!loaded->warnings.empty()) {
    // Gone before the gateway blocks its signals for every thread.
    admin::Log log(loaded->config->log_format, loaded->config->log_keys);
    for (const config::Finding& warning : loaded->warnings)
      log.event(admin::Level::warning, "configuration", warning.text());
  }
  return gateway::serve(loaded->config,
                        [loaded = *loaded]() -> Expected<std::shared_ptr<const config::Config>, std::string> {
                          const auto again = config::reload(loaded);
                          if (!again) return unexpected<std::string>(joined(again.error()));
                          return again->config;
                        });
}

}  // namespace

void add_serve(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("serve", "runs the gateway");
  auto flags = std::make_shared<config::Flags>();
  add_config_flags(*command, *flags, ConfigFile::flag);
  command->footer(
      "Flags beat the environment (the names in parentheses), which beats the file. SIGHUP reads everything "
      "again, SIGTERM\n"
      "finishes what runs and ends. `stet check-config --help` lists every key.\n\n"
      "Example: stet serve --upstream http://127.0.0.1:3000 --set 'defaults.in_progress=\"wait\"'");
  command->callback([flags, &run] { run = [flags] { return serve(*flags); }; });
}

}  // namespace stet::app
